// SPDX-License-Identifier: Apache-2.0
//
// `hypermile serve [LOG|FOLDER]…`: serves a live page of all runs that are logged there, the
// daemon's leases, and /metrics for Prometheus, until it is interrupted. Only reads.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/run_options.h"
#include "run/run_page.h"

namespace hypermile {
namespace {

Result<void> run_serve(const CommandArguments& arguments, CommandContext& context) {
  std::vector<std::string> logs = arguments.positional;
  if (logs.empty()) logs.emplace_back(".");
  ASSIGN_OR_RETURN(const auto server,
                   bind_page_server(arguments.options.text("listen"),
                                    text_if_given(arguments.options, "token-file"), logs));
  server->start();
  const std::string url = server->address().url();
  if (arguments.options.flag("json")) {
    context.out << nlohmann::json{{"url", url}, {"metrics", url + "metrics"}}.dump() << std::endl;
  } else {
    context.out << fmt::format("live page: {}\nmetrics:   {}metrics\n", url, url);
    if (arguments.options.given("token-file")) {
      context.out << fmt::format("open it as {}#token=TOKEN, or type the token there\n", url);
    }
    context.out << "Ctrl-C ends it.\n" << std::flush;
  }
  constexpr Seconds kLong = Seconds(3600);
  while (!context.stop.stop_requested()) context.clock.sleep_for(kLong, context.stop);
  return {};
}

}  // namespace

const Command kServeCommand = {
    "serve",
    "serve a live page of logged runs, the daemon's leases, and /metrics for Prometheus",
    "LOG",
    "  hypermile serve                                the logs (*.jsonl) of this folder\n"
    "  hypermile serve run.jsonl /var/log/hypermile   logs, and folders of logs\n"
    "  hypermile serve --listen 0.0.0.0:9487 --token-file token\n",
    run_serve,
};

}  // namespace hypermile
