// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "record/event.h"
#include "testing/example_events.h"

namespace hypermile {
namespace {

TEST(EventJson, EveryTypeComesBackAsItWasWritten) {
  for (const Event& event : example_events()) {
    const std::string line = to_json_line(event);

    const Result<Event> back = parse_event(line);

    ASSERT_TRUE(back.ok()) << line << ": " << back.error().line();
    EXPECT_EQ(back->body.index(), event.body.index());
    EXPECT_EQ(to_json_line(*back), line);
  }
}

TEST(EventJson, LeavesOutWhatIsNotKnown) {
  const auto j =
      nlohmann::json::parse(to_json_line({Instant(), SampleEvent{GpuUuid("GPU-1"), {}}}));

  EXPECT_FALSE(j.contains("power_w"));
  EXPECT_FALSE(j.contains("event_reasons"));
}

TEST(EventJson, StaysOneLineOfValidJsonForAnyText) {
  ErrorEvent event;
  event.error = Error{ErrorCode::kIo, "line\nbreak \xff\xfe bytes", ""};

  const std::string line = to_json_line({Instant(), event});

  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(parse_event(line).ok());
}

TEST(ParseEvent, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(parse_event("{\"v\":1,").error().line(), "not an event: expected a JSON object");
  EXPECT_EQ(parse_event(R"({"v":9,"t":0,"type":"sample"})").error().line(),
            "not an event: version 9, this program reads 1");
  EXPECT_EQ(parse_event(R"({"v":1,"t":0,"type":"dance"})").error().line(),
            "not an event: unknown type 'dance'");
  EXPECT_FALSE(parse_event(R"({"v":1,"t":0,"type":"sample"})").ok()) << "a sample names its GPU";
  EXPECT_FALSE(parse_event(R"({"v":1,"t":1e300,"type":"run_end","exit_code":0,"reason":""})").ok());
  EXPECT_FALSE(parse_event(R"({"v":1,"t":"x","type":"run_end","exit_code":0,"reason":""})").ok());
}

}  // namespace
}  // namespace hypermile
