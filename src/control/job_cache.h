// SPDX-License-Identifier: Apache-2.0
//
// Memory across runs (`--cache`): where earlier runs of a job ended, in one small file
// ($XDG_CACHE_HOME/hypermile/jobs.json, docs/design/policies.md). A job is known again by the
// kernels of its iteration and its time per iteration at the default; what is remembered is only
// ever a place to look first (PolicyContext::remembered), so a wrong memory costs a Window.
//
// Written by rename under a lock, so that a reader finds a whole file, and two runs that end
// together lose nothing of each other's. A broken file is set aside and forgotten: note() says so.
// Nothing here is worth failing a run for: store() returns its error for one line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "control/job_cache_file.h"

namespace hypermile {

// $XDG_CACHE_HOME/hypermile/jobs.json, else $HOME/.cache/hypermile/jobs.json; kNotFound where
// neither variable holds an absolute path.
Result<std::string> default_cache_path();
// The same path, after making its folder; kIo where the folder cannot be made.
Result<std::string> default_cache_file();

class JobCache {
 public:
  // Reads what is there. `files` must outlive it.
  JobCache(Files& files, std::string path);

  // What is wrong with the file that was found, for one line to a person; "" where nothing is.
  const std::string& note() const { return note_; }

  // The job of these terms whose mix is most alike, if it is alike enough and its iterations at the
  // default took about as long.
  const CachedJob* find(const JobTerms& terms, const JobFingerprint& fingerprint,
                        Seconds default_time) const;

  // Remembers the job, in the place of what was remembered of it.
  Result<void> store(CachedJob job);
  // What find() gave no longer holds.
  Result<void> forget(const JobTerms& terms, const JobFingerprint& fingerprint,
                      Seconds default_time);

  const std::vector<CachedJob>& jobs() const { return jobs_; }

 private:
  Result<void> read();
  // Takes out the job and, with `job`, puts that in, on the newest state of the file.
  Result<void> replace(const JobTerms& terms, const JobFingerprint& fingerprint,
                       Seconds default_time, std::optional<CachedJob> job);
  Result<void> write() const;

  Files& files_;
  std::string path_;
  std::string note_;
  std::vector<CachedJob> jobs_;
};

}  // namespace hypermile
