/* SPDX-License-Identifier: Apache-2.0
 *
 * The SPANK plugin: `srun --hypermile[=BOUND]` and `sbatch --hypermile[=BOUND]`. In each step it starts one
 * hypermile-agent on each node, as the job's user, and hands the tasks the variables that make them visible to it. In
 * the prolog it grants the job's user the right to change the clocks of the job's GPUs, in the epilog it takes the
 * right away and has the GPUs restored. docs/guide/slurm.md explains plugstack.conf.
 *
 * Slurm loads it into srun, sbatch, slurmd and slurmstepd, so it links nothing but the C library, and it fails open:
 * every hook returns success, whatever happened, and the job's standard error gets one line. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/spank.h>

/* Slurm refuses a plugin of another version number; the one of the headers that it is built with is right. */
SPANK_PLUGIN(hypermile, 1)

#define MOST_LINES 64           /* variables and messages from an agent */
#define MOST_ARGUMENTS 48       /* of an agent */
#define MOST_OUTPUT (64 * 1024) /* bytes of an agent's first words */
#define AGENT_WITHIN_MS 3000    /* for the agent's first words; the tasks wait for them */
#define RIGHTS_WITHIN_MS 8000   /* for the daemon's word in prolog and epilog */
#define END_WITHIN_MS 5000      /* for the agent's end; it writes the job's comment last */
#define FIRST_SPECIAL_STEP 0xfffffff0u /* the batch script, the external step and their like */
#define BATCH_STEP 0xfffffffbu

enum mode { MODE_OFF, MODE_OBSERVE, MODE_ON };

/* From plugstack.conf; "%n" in a path is the node's name. */
static struct {
  enum mode mode;
  const char* max_slowdown;
  const char* agent;
  const char* daemon;
  const char* socket; /* of the daemon */
  const char* state;  /* folder of the daemon */
  const char* address;
  const char* ports;
  const char* log;
  const char* munge_socket;
  const char* environment; /* file with variables for the agent, its tasks and the daemon's calls */
  int rights;              /* whether prolog and epilog grant and take rights */
  int comment;             /* whether agents write the job's comment */
} site = {MODE_OFF, "5%", "hypermile-agent", "hypermiled", NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1};

/* What the user asked for: -1 nothing. */
static int wanted_mode = -1;
static char wanted_bound[32];

/* Of the step in a slurmstepd. */
static int agent_input = -1; /* the agent ends when this closes */
static int agent_alive = -1; /* closes when the agent has ended */
static uint32_t tasks_left;
static char* lines[MOST_LINES]; /* "NAME=VALUE" for the tasks, "!…" for the job's standard error */
static size_t line_count;

static void add_line(const char* text) {
  if (line_count < MOST_LINES && (lines[line_count] = strdup(text)) != NULL) ++line_count;
}

/* One line for the job's standard error, later, by its first task. */
static void complain(const char* what) {
  char text[512];
  snprintf(text, sizeof text, "!hypermile: %s; the job runs as if hypermile was not there", what);
  add_line(text);
}

static const char* node_name(void) {
  static char name[256];
  const char* given = getenv("SLURMD_NODENAME");
  if (given != NULL) return given;
  if (name[0] == '\0' && gethostname(name, sizeof name - 1) != 0) snprintf(name, sizeof name, "localhost");
  return name;
}

/* `pattern` with every %n replaced by the node's name; the caller frees it. */
static char* with_node(const char* pattern) {
  const char* name = node_name();
  size_t most = strlen(pattern) * (strlen(name) + 1) + 1, at = 0;
  char* text = malloc(most);
  if (text == NULL) return NULL;
  for (const char* c = pattern; *c != '\0'; ++c) {
    if (c[0] == '%' && c[1] == 'n') {
      at += (size_t)snprintf(text + at, most - at, "%s", name);
      ++c;
    } else {
      text[at++] = *c;
    }
  }
  text[at] = '\0';
  return text;
}

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* ---- options ---- */

static int take_bound(int value, const char* argument, int remote) {
  (void)value;
  (void)remote;
  wanted_mode = MODE_ON;
  if (argument == NULL) return 0;
  if (strlen(argument) >= sizeof wanted_bound || !isdigit((unsigned char)argument[0])) {
    slurm_error("hypermile: '%s' is no slowdown; write for example --hypermile=5%%", argument);
    return -1;
  }
  snprintf(wanted_bound, sizeof wanted_bound, "%s", argument);
  return 0;
}

static int take_observe(int value, const char* argument, int remote) {
  (void)value;
  (void)argument;
  (void)remote;
  wanted_mode = MODE_OBSERVE;
  return 0;
}

static int take_off(int value, const char* argument, int remote) {
  (void)value;
  (void)argument;
  (void)remote;
  wanted_mode = MODE_OFF;
  return 0;
}

/* Slurm 22.05 keeps pointers into it. */
static struct spank_option options[] = {
    {"hypermile", "BOUND", "run at the clocks of least energy, at most BOUND (5%) slower", 2, 0, take_bound},
    {"hypermile-observe", NULL, "measure what hypermile could save, and change nothing", 0, 0, take_observe},
    {"no-hypermile", NULL, "run without hypermile", 0, 0, take_off},
};

static enum mode mode(void) { return wanted_mode >= 0 ? (enum mode)wanted_mode : site.mode; }

static void read_site_option(const char* text) {
  static const struct {
    const char* name;
    const char** value;
  } texts[] = {
      {"max_slowdown=", &site.max_slowdown}, {"agent=", &site.agent},     {"daemon=", &site.daemon},
      {"socket=", &site.socket},             {"state=", &site.state},     {"address=", &site.address},
      {"ports=", &site.ports},               {"log=", &site.log},         {"munge_socket=", &site.munge_socket},
      {"environment=", &site.environment},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    const size_t length = strlen(texts[i].name);
    if (strncmp(text, texts[i].name, length) != 0) continue;
    *texts[i].value = strdup(text + length);
    return;
  }
  if (strcmp(text, "default=off") == 0) {
    site.mode = MODE_OFF;
  } else if (strcmp(text, "default=observe") == 0) {
    site.mode = MODE_OBSERVE;
  } else if (strcmp(text, "default=on") == 0) {
    site.mode = MODE_ON;
  } else if (strcmp(text, "rights=off") == 0) {
    site.rights = 0;
  } else if (strcmp(text, "comment=off") == 0) {
    site.comment = 0;
  } else {
    slurm_error("hypermile: plugstack.conf: unknown option '%s' is ignored", text);
  }
}

/* Slurm calls slurm_spank_init() everywhere but in prolog and epilog. */
static void read_site(int count, char** arguments) {
  for (int i = 0; i < count; ++i) read_site_option(arguments[i]);
}

/* ---- processes ---- */

struct identity {
  uid_t uid;
  gid_t gid;
  gid_t* groups;
  int group_count;
  int change; /* become that user */
};

static void close_from(int first) {
  struct rlimit limit;
  int most = 65536;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)most) most = (int)limit.rlim_cur;
  for (int fd = first; fd < most; ++fd) close(fd);
}

/* Between fork and exec; ends the process where it cannot go on. */
static void become(const struct identity* who, int input, int output, int alive, char** arguments, char** environment) {
  sigset_t none;
  if (who->change) {
    if (seteuid(0) != 0 && errno != EPERM) _exit(126);
    if (geteuid() == 0 && setgroups((size_t)who->group_count, who->groups) != 0) _exit(126);
    if (setresgid(who->gid, who->gid, who->gid) != 0 || setresuid(who->uid, who->uid, who->uid) != 0) _exit(126);
    if (who->uid != 0 && setuid(0) == 0) _exit(126);
  }
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0) _exit(126);
  /* What the daemon complains of is for slurmd's log; an agent has its own. */
  const int errors = who->change ? open("/dev/null", O_WRONLY) : output;
  if (errors >= 0) dup2(errors, 2);
  if (alive >= 0 && (dup2(alive, 3) < 0 || fcntl(3, F_SETFD, 0) != 0)) _exit(126);
  close_from(alive >= 0 ? 4 : 3);
  if (chdir("/") != 0) _exit(126);
  setsid();
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

static void close_pair(const int* ends) {
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
}

/* Starts a program that nobody waits for. Returns 0, the end of its standard input that we hold, the end of its standard
 * output, and a pipe that closes when it has ended. */
static int start(char** arguments, char** environment, const struct identity* who, int* input, int* output, int* alive) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, life[2] = {-1, -1}, status = 0;
  pid_t child = -1;
  if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(life, O_CLOEXEC) == 0) child = fork();
  if (child == 0) {
    const pid_t program = fork();
    if (program != 0) _exit(program < 0);
    become(who, in[0], out[1], life[1], arguments, environment);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    close_pair(in);
    close_pair(out);
    close_pair(life);
    return -1;
  }
  close(in[0]);
  close(out[1]);
  close(life[1]);
  *input = in[1];
  *output = out[0];
  *alive = life[0];
  return 0;
}

/* All that a program prints until it closes its output: its length, or -1 where that takes longer than `within`. */
static ssize_t read_all(int from, char* text, size_t most, int within) {
  const long long until = now_ms() + within;
  size_t length = 0;
  for (;;) {
    const long long left = until - now_ms();
    struct pollfd ready = {from, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, (int)left) <= 0) return -1;
    const ssize_t got = read(from, text + length, most - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    length += (size_t)got;
    if (length >= most - 1) return -1;
  }
  text[length] = '\0';
  return (ssize_t)length;
}

/* ---- variables of this node, for clusters on one machine ---- */

static void read_environment_file(void) {
  if (site.environment == NULL) return;
  char* path = with_node(site.environment);
  FILE* file = path != NULL ? fopen(path, "re") : NULL;
  char line[1024];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strchr(line, '=') != NULL && isupper((unsigned char)line[0])) add_line(line);
  }
  if (file != NULL) fclose(file);
  free(path);
}

/* Our lines first, because the first of two values of a variable counts; the caller frees the list, not its strings. */
static char** environment_with_lines(char** inherited) {
  size_t count = 0, at = 0;
  while (inherited != NULL && inherited[count] != NULL) ++count;
  char** all = calloc(line_count + count + 1, sizeof *all);
  if (all == NULL) return NULL;
  for (size_t i = 0; i < line_count; ++i) {
    if (lines[i][0] != '!') all[at++] = lines[i];
  }
  for (size_t i = 0; i < count; ++i) all[at++] = inherited[i];
  return all;
}

/* ---- the agent ---- */

static void take_first_words(char* text) {
  char* rest = NULL;
  for (char* line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) add_line(line);
}

static void launch_agent(spank_t spank, uint32_t job, uint32_t step, uint32_t node, const char* nodes) {
  static char job_text[64], node_text[32], output_text[MOST_OUTPUT];
  char* arguments[MOST_ARGUMENTS];
  int count = 0, output = -1;
  char** job_environment = NULL;
  struct identity who = {0, 0, NULL, 0, 1};
  snprintf(job_text, sizeof job_text, "%u.%u", job, step == BATCH_STEP ? 0xffffu : step);
  snprintf(node_text, sizeof node_text, "#%u", node);
  const char* fixed[] = {site.agent, "--job", job_text, "--nodes", nodes, "--node", node_text, "--max-slowdown",
                         wanted_bound[0] != '\0' ? wanted_bound : site.max_slowdown};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; ++i) arguments[count++] = (char*)(uintptr_t)fixed[i];
  const char* more[][2] = {{"--address", site.address},
                           {"--ports", site.ports},
                           {"--log", site.log},
                           {"--munge-socket", site.munge_socket}};
  for (size_t i = 0; i < sizeof more / sizeof *more; ++i) {
    if (more[i][1] == NULL) continue;
    arguments[count++] = (char*)(uintptr_t)more[i][0];
    arguments[count++] = (char*)(uintptr_t)more[i][1];
  }
  if (mode() == MODE_OBSERVE) arguments[count++] = (char*)(uintptr_t) "--observe";
  if (site.comment) arguments[count++] = (char*)(uintptr_t) "--comment";
  arguments[count] = NULL;
  if (spank_get_item(spank, S_JOB_UID, &who.uid) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_GID, &who.gid) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &who.groups, &who.group_count) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_ENV, &job_environment) != ESPANK_SUCCESS) {
    complain("Slurm does not say whose job this is");
    return;
  }
  char** environment = environment_with_lines(job_environment);
  if (environment == NULL || start(arguments, environment, &who, &agent_input, &output, &agent_alive) != 0) {
    free(environment);
    complain("no agent can be started");
    return;
  }
  free(environment);
  const ssize_t length = read_all(output, output_text, sizeof output_text, AGENT_WITHIN_MS);
  close(output);
  if (length > 0) {
    take_first_words(output_text);
    return;
  }
  /* Closing its input ends it, should it still come up. */
  close(agent_input);
  close(agent_alive);
  agent_input = agent_alive = -1;
  complain(length == 0 ? "the agent ended at once" : "the agent did not answer in time");
}

/* Waits for the agent's end, because Slurm kills what is left of a step when its tasks have ended: the GPUs are given
 * back and the last report is told first. */
static void let_agent_go(void) {
  if (agent_input < 0) return;
  close(agent_input);
  const long long until = now_ms() + END_WITHIN_MS;
  struct pollfd ended = {agent_alive, POLLIN, 0};
  for (long long left = END_WITHIN_MS; left > 0; left = until - now_ms()) {
    if (poll(&ended, 1, (int)left) > 0) break;
  }
  close(agent_alive);
  agent_input = agent_alive = -1;
}

/* ---- rights ---- */

static void call_daemon(const char* what) {
  static char answer[MOST_OUTPUT];
  char* arguments[MOST_ARGUMENTS];
  int count = 0, input = -1, output = -1, alive = -1;
  /* slurmd sets these itself; what a user sets arrives here only with SPANK_ before its name. */
  const char* job_text = getenv("SLURM_JOB_ID");
  const char* uid_text = getenv("SLURM_JOB_UID");
  const char* gpus = getenv("SLURM_JOB_GPUS");
  if (gpus == NULL) gpus = getenv("CUDA_VISIBLE_DEVICES");
  const int granting = strcmp(what, "--grant") == 0;
  if (!site.rights || job_text == NULL || uid_text == NULL) return;
  if (granting && (gpus == NULL || gpus[0] == '\0')) return;
  read_environment_file();
  const char* fixed[] = {site.daemon, what, job_text};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; ++i) arguments[count++] = (char*)(uintptr_t)fixed[i];
  const char* more[][2] = {{"--uid", granting ? uid_text : NULL}, {"--gpus", granting ? gpus : NULL}};
  for (size_t i = 0; i < sizeof more / sizeof *more; ++i) {
    if (more[i][1] == NULL) continue;
    arguments[count++] = (char*)(uintptr_t)more[i][0];
    arguments[count++] = (char*)(uintptr_t)more[i][1];
  }
  char* paths[2] = {site.socket != NULL ? with_node(site.socket) : NULL,
                    site.state != NULL ? with_node(site.state) : NULL};
  const char* names[2] = {"--socket", "--state"};
  for (int i = 0; i < 2; ++i) {
    if (paths[i] == NULL) continue;
    arguments[count++] = (char*)(uintptr_t)names[i];
    arguments[count++] = paths[i];
  }
  arguments[count] = NULL;
  /* The prolog's own environment has no PATH on some sites. */
  static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  char* inherited[] = {path, NULL};
  const struct identity root = {0, 0, NULL, 0, 0};
  char** environment = environment_with_lines(inherited);
  if (environment == NULL || start(arguments, environment, &root, &input, &output, &alive) != 0) {
    slurm_error("hypermile: %s cannot be started", site.daemon);
  } else {
    const ssize_t length = read_all(output, answer, sizeof answer, RIGHTS_WITHIN_MS);
    close(input);
    close(output);
    close(alive);
    if (length < 0) slurm_error("hypermile: hypermiled %s %s did not end in time", what, job_text);
    if (length > 0) slurm_error("hypermile: %s", answer);
  }
  free(environment);
  free(paths[0]);
  free(paths[1]);
}

/* ---- what killed agents leave behind ---- */

static int has_rings(uid_t uid) {
  static const char prefix[] = "hypermile-rings-";
  DIR* folder = opendir("/dev/shm");
  struct dirent* entry;
  struct stat facts;
  int found = 0;
  while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
    found = strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 &&
            fstatat(dirfd(folder), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && facts.st_uid == uid;
  }
  if (folder != NULL) closedir(folder);
  return found;
}

/* An agent that was killed could not remove its folder of shared memory. The user's own agent does, and spares those that
 * are in use. */
static void clean_up_for_user(void) {
  static char answer[1024], path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  const char* uid_text = getenv("SLURM_JOB_UID");
  struct identity who = {uid_text != NULL ? (uid_t)strtoul(uid_text, NULL, 10) : 0, 0, NULL, 0, 1};
  if (who.uid == 0 || !has_rings(who.uid)) return;
  who.gid = (gid_t)who.uid; /* no file is made, so it does not matter, and it is not root's */
  char* arguments[] = {(char*)(uintptr_t)site.agent, (char*)(uintptr_t) "--clean", NULL};
  char* environment[] = {path, NULL};
  int input = -1, output = -1, alive = -1;
  if (start(arguments, environment, &who, &input, &output, &alive) != 0) return;
  read_all(output, answer, sizeof answer, AGENT_WITHIN_MS);
  close(input);
  close(output);
  close(alive);
}

/* ---- what Slurm calls ---- */

int slurm_spank_init(spank_t spank, int count, char** arguments) {
  read_site(count, arguments);
  const spank_context_t context = spank_context();
  if (context == S_CTX_LOCAL || context == S_CTX_REMOTE || context == S_CTX_ALLOCATOR) {
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) spank_option_register(spank, &options[i]);
  }
  return 0;
}

int slurm_spank_job_prolog(spank_t spank, int count, char** arguments) {
  (void)spank;
  read_site(count, arguments);
  call_daemon("--grant");
  return 0;
}

int slurm_spank_job_epilog(spank_t spank, int count, char** arguments) {
  (void)spank;
  read_site(count, arguments);
  call_daemon("--revoke");
  clean_up_for_user();
  return 0;
}

/* In slurmstepd, once a step and node, before any task is started. */
int slurm_spank_user_init(spank_t spank, int count, char** arguments) {
  uint32_t job = 0, step = 0, node = 0, node_count = 0;
  static char nodes[64 * 1024];
  (void)count;
  (void)arguments;
  if (mode() == MODE_OFF) return 0;
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_NODEID, &node) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_NNODES, &node_count) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks_left) != ESPANK_SUCCESS) {
    return 0;
  }
  if (step >= FIRST_SPECIAL_STEP) {
    /* A batch script that trains without srun does so on one node; otherwise its steps are what counts. */
    if (step != BATCH_STEP || spank_getenv(spank, "SLURM_JOB_NUM_NODES", nodes, sizeof nodes) != ESPANK_SUCCESS ||
        strcmp(nodes, "1") != 0) {
      return 0;
    }
  }
  if (spank_getenv(spank, step == BATCH_STEP ? "SLURM_JOB_NODELIST" : "SLURM_STEP_NODELIST", nodes, sizeof nodes) !=
          ESPANK_SUCCESS &&
      spank_getenv(spank, "SLURM_JOB_NODELIST", nodes, sizeof nodes) != ESPANK_SUCCESS) {
    complain("Slurm does not name the nodes of the step");
    return 0;
  }
  read_environment_file();
  launch_agent(spank, job, step, node, nodes);
  return 0;
}

/* In each task, as the user, before its program starts. */
int slurm_spank_task_init(spank_t spank, int count, char** arguments) {
  int task = 0;
  (void)count;
  (void)arguments;
  if (mode() == MODE_OFF || spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS) return 0;
  for (size_t i = 0; i < line_count; ++i) {
    if (lines[i][0] == '!') {
      if (task == 0) dprintf(STDERR_FILENO, "%s\n", lines[i] + 1);
      continue;
    }
    char* equals = strchr(lines[i], '=');
    if (equals == NULL) continue;
    char name[256];
    const size_t length = (size_t)(equals - lines[i]);
    if (length == 0 || length >= sizeof name) continue;
    memcpy(name, lines[i], length);
    name[length] = '\0';
    spank_setenv(spank, name, equals + 1, 1);
  }
  return 0;
}

/* In slurmstepd: the agent ends with the last task of the node. */
int slurm_spank_task_exit(spank_t spank, int count, char** arguments) {
  (void)spank;
  (void)count;
  (void)arguments;
  if (tasks_left > 0 && --tasks_left == 0) let_agent_go();
  return 0;
}

int slurm_spank_exit(spank_t spank, int count, char** arguments) {
  (void)count;
  (void)arguments;
  if (spank_remote(spank) == 1) let_agent_go();
  return 0;
}
