/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank of an MPI program on simulated GPUs: each iteration runs on the rank's GPU of the NVML stand-in and then waits
 * for all ranks of all nodes, as training waits for its gradients.
 *
 *   mpi_rank HYPERMILE WORKLOAD ITERATIONS [STRAGGLER EXTRA_MS]
 *
 * `STRAGGLER` is the rank of a host that takes EXTRA_MS longer for every iteration. Rank 0 prints the job's iterations
 * and its time as JSON. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FILE* to_gpu;
static FILE* from_gpu;

static void start_gpu(const char* hypermile, const char* workload, const char* gpu) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) exit(1);
  if (fork() == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execl(hypermile, "hypermile", "simulate", "--realtime", "--paced", "--seconds", "24h", "--workload", workload, "--gpu",
          gpu, (char*)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_gpu = fdopen(in[1], "w");
  from_gpu = fdopen(out[0], "r");
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const long iterations = atol(argv[3]);
  int rank = 0, ranks = 0;
  char line[128];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* gpu = getenv("SLURM_LOCALID");
  start_gpu(argv[1], argv[2], gpu != NULL ? gpu : "0");
  const int straggler = argc > 5 ? atoi(argv[4]) : -1;
  const long extra = argc > 5 ? atol(argv[5]) : 0;
  const double begin = MPI_Wtime();
  float gradient = 1, sum = 0;
  for (long i = 0; i < iterations; ++i) {
    fputs("\n", to_gpu);
    fflush(to_gpu);
    if (fgets(line, sizeof line, from_gpu) == NULL) return 1;
    if (rank == straggler) {
      const struct timespec pause = {extra / 1000, (extra % 1000) * 1000000L};
      nanosleep(&pause, NULL);
    }
    /* Waiting without spinning: the processors of a test's machine are shared. */
    MPI_Request request;
    int done = 0;
    MPI_Iallreduce(&gradient, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(2000);
  }
  if (rank == 0) printf("{\"iterations\": %ld, \"ranks\": %d, \"seconds\": %.3f}\n", iterations, ranks, MPI_Wtime() - begin);
  fclose(to_gpu);
  MPI_Finalize();
  return 0;
}
