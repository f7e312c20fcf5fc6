// SPDX-License-Identifier: Apache-2.0
//
// Metrics of hypermiled: its leases, its counts, and whether it answers. Metrics calls it.
#pragma once

#include "record/serve/daemon_view.h"
#include "record/serve/metric_filler.h"

namespace hypermile {

void fill_daemon(MetricFiller& fill, const DaemonView& daemon);

}  // namespace hypermile
