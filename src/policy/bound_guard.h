// SPDX-License-Identifier: Apache-2.0
//
// When the bound on the whole job comes near, whatever the policy believes: then the default is
// watched until enough time is earned back. The Controller asks for a job on one node, a
// JointCourse (nodes/joint_course.h) for a job on several. Pure arithmetic on a JobLedger; nothing
// here fails.
#pragma once

#include "policy/job_ledger.h"

namespace hypermile {

// A job whose length nobody told is taken to last at least this long.
inline constexpr Seconds kLeastJob = Seconds(600);

// All in iterations at the default.
struct LostTime {
  double lost = 0;
  double error = 0;  // standard error of `lost`
  double job = 0;    // that it is a share of
};

// `length_known`: the user gave the job's length. Otherwise the job may end now.
LostTime lost_time(const JobLedger& ledger, Seconds typical, bool length_known);

// `earning_back`: the default is being watched since the bound came near.
bool near_bound(const LostTime& time, double bound, bool earning_back);

// The job's length where nobody told it: it is taken to run as long again as it has run.
double likely_job(const JobLedger& ledger, Seconds typical);

}  // namespace hypermile
