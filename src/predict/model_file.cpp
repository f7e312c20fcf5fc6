// SPDX-License-Identifier: Apache-2.0
#include "predict/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/whole_file.h"

namespace hypermile {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kFormat = "hypermile-model";

// The double with the shortest decimal form that reads back to the same float.
double shortest(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

Json to_json(const Forest& forest) {
  Json trees = Json::array();
  for (const Tree& tree : forest.trees) {
    Json nodes = Json::array();
    for (const TreeNode& node : tree) {
      if (node.input < 0) {
        nodes.push_back({shortest(node.split)});
      } else {
        nodes.push_back({node.input, shortest(node.split), node.left, node.missing_left ? 1 : 0});
      }
    }
    trees.push_back(std::move(nodes));
  }
  return {{"base", forest.base}, {"trees", std::move(trees)}};
}

Forest forest_from(const Json& json) {
  Forest forest;
  forest.base = json.at("base").get<double>();
  for (const Json& nodes : json.at("trees")) {
    Tree& tree = forest.trees.emplace_back();
    for (const Json& node : nodes) {
      TreeNode& out = tree.emplace_back();
      if (node.size() == 1) {
        out.split = node.at(0).get<float>();
        continue;
      }
      out.input = node.at(0).get<std::int32_t>();
      out.split = node.at(1).get<float>();
      out.left = node.at(2).get<std::int32_t>();
      out.missing_left = node.at(3).get<int>() != 0;
    }
  }
  return forest;
}

Json to_json(const Ridge& ridge) {
  return {
      {"mean", ridge.mean}, {"scale", ridge.scale}, {"level", ridge.level}, {"bend", ridge.bend}};
}

Ridge ridge_from(const Json& json) {
  Ridge ridge;
  json.at("mean").get_to(ridge.mean);
  json.at("scale").get_to(ridge.scale);
  json.at("level").get_to(ridge.level);
  json.at("bend").get_to(ridge.bend);
  return ridge;
}

Json to_json(const std::vector<Member>& members) {
  Json out = Json::array();
  for (const Member& member : members) {
    Json one = Json::object();
    if (member.forest) one["forest"] = to_json(*member.forest);
    if (member.ridge) one["ridge"] = to_json(*member.ridge);
    out.push_back(std::move(one));
  }
  return out;
}

Json to_json(const Relation& relation) {
  return {{"knob", to_string(relation.knob)},
          {"target", to_string(relation.target)},
          {"members", to_json(relation.members)},
          {"whole", to_json(relation.whole)}};
}

Json to_json(const std::vector<Relation>& relations) {
  Json out = Json::array();
  for (const Relation& relation : relations) out.push_back(to_json(relation));
  return out;
}

// Throws nlohmann's exception for a missing or wrong field; parse_model() catches it.
Knob knob_from(const Json& json) {
  for (const Knob knob : kAllKnobs) {
    if (json.get<std::string>() == to_string(knob)) return knob;
  }
  return json.at("unknown knob").get<Knob>();
}

Result<std::vector<Member>> members_from(const Json& json) {
  std::vector<Member> members;
  for (const Json& one : json) {
    Member& member = members.emplace_back();
    if (one.contains("forest")) member.forest = forest_from(one.at("forest"));
    if (one.contains("ridge")) member.ridge = ridge_from(one.at("ridge"));
    if (member.forest) RETURN_IF_ERROR(check(*member.forest));
    if (member.ridge) RETURN_IF_ERROR(check(*member.ridge));
  }
  return members;
}

Result<Relation> relation_from(const Json& json) {
  Relation relation;
  relation.knob = knob_from(json.at("knob"));
  relation.target = json.at("target") == "time" ? Target::kTime : Target::kEnergy;
  ASSIGN_OR_RETURN(relation.members, members_from(json.at("members")));
  ASSIGN_OR_RETURN(relation.whole, members_from(json.at("whole")));
  return relation;
}

Json to_json(const Scores& scores) {
  return {{"rows", scores.rows},
          {"time_mae", scores.time_mae},
          {"energy_mae", scores.energy_mae},
          {"coverage90", scores.coverage90}};
}

Scores scores_from(const Json& json) {
  return {json.at("rows").get<std::size_t>(), json.at("time_mae").get<double>(),
          json.at("energy_mae").get<double>(), json.at("coverage90").get<double>()};
}

Json to_json(const BoundScales& c) {
  return {{"time", c.time},
          {"energy", c.energy},
          {"time_slope", c.time_slope},
          {"energy_slope", c.energy_slope}};
}

Json to_json(const Calibration& c) {
  return {{"clocks", to_json(c.clocks)},
          {"limits", to_json(c.limits)},
          {"clocks_trust",
           c.clocks_trust ? Json{c.clocks_trust->time, c.clocks_trust->energy} : Json()},
          {"limits_trust", {c.limits_trust.time, c.limits_trust.energy}}};
}

Json to_json(const std::vector<CardProfile>& cards) {
  Json out = Json::array();
  for (const CardProfile& card : cards) {
    out.push_back({{"name", card.card},
                   {"known", card.known},
                   {"mean", card.mean},
                   {"spread", card.spread},
                   {"moved", card.moved}});
  }
  return out;
}

BoundScales bound_scales_from(const Json& json) {
  return {json.at("time").get<double>(), json.at("energy").get<double>(),
          json.at("time_slope").get<double>(), json.at("energy_slope").get<double>()};
}

Calibration calibration_from(const Json& json) {
  const auto trust = [&](const char* name) {
    return Trust{json.at(name).at(0).get<double>(), json.at(name).at(1).get<double>()};
  };
  Calibration out = {bound_scales_from(json.at("clocks")), bound_scales_from(json.at("limits")),
                     std::nullopt, trust("limits_trust")};
  if (!json.at("clocks_trust").is_null()) out.clocks_trust = trust("clocks_trust");
  return out;
}

Json to_json(const MeanCurve& mean) {
  Json out = Json::array();
  for (const MeanCurve::Along& along : mean.knobs) {
    out.push_back(
        {{"knob", to_string(along.knob)}, {"time", along.time}, {"energy", along.energy}});
  }
  return out;
}

Json to_json(const std::vector<ExampleSource>& sources) {
  Json out = Json::array();
  for (const ExampleSource& s : sources) {
    out.push_back({{"name", s.name}, {"hash", s.hash}, {"rows", s.rows}, {"jobs", s.jobs}});
  }
  return out;
}

Result<Model> model_from(const Json& json) {
  Model model;
  const auto kind = model_kind_from(json.at("kind").get<std::string>());
  if (!kind) return Error{ErrorCode::kParse, "its kind is not known"};
  model.kind = *kind;
  for (const Json& relation : json.at("relations")) {
    ASSIGN_OR_RETURN(model.relations.emplace_back(), relation_from(relation));
  }
  for (const Json& relation : json.value("elsewhere", Json::array())) {
    ASSIGN_OR_RETURN(model.elsewhere.emplace_back(), relation_from(relation));
  }
  model.calibration = calibration_from(json.at("calibration"));
  model.new_card = calibration_from(json.at("new_card"));
  for (const auto& [card, scales] : json.at("own_scales").items()) {
    model.own_scales[card] = bound_scales_from(scales);
  }
  for (const Json& one : json.at("mean_curve")) {
    MeanCurve::Along& along = model.mean.knobs.emplace_back();
    along.knob = knob_from(one.at("knob"));
    one.at("time").get_to(along.time);
    one.at("energy").get_to(along.energy);
  }
  for (const Json& one : json.at("cards")) {
    CardProfile& card = model.cards.emplace_back();
    one.at("name").get_to(card.card);
    one.at("known").get_to(card.known);
    one.at("mean").get_to(card.mean);
    one.at("spread").get_to(card.spread);
    one.at("moved").get_to(card.moved);
  }
  for (const Json& s : json.at("trained_on")) {
    model.sources.push_back({s.at("name").get<std::string>(), s.at("hash").get<std::string>(),
                             s.at("rows").get<std::size_t>(), s.at("jobs").get<std::size_t>()});
  }
  model.by_workload = scores_from(json.at("scores").at("by_workload"));
  if (json.at("scores").contains("by_card")) {
    model.by_card = scores_from(json.at("scores").at("by_card"));
  }
  return model;
}

Result<void> check_header(const Json& json) {
  const std::string learn = "train one with 'hypermile learn'";
  if (json.is_discarded()) {
    return Error{ErrorCode::kParse, "is truncated or not JSON", learn};
  }
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    return Error{ErrorCode::kParse, "is not a model", learn};
  }
  if (json.value("version", Json()) != kModelVersion) {
    return Error{ErrorCode::kParse,
                 fmt::format("is a model of version {}, this program reads version {}",
                             json.value("version", Json()).dump(), kModelVersion),
                 learn};
  }
  const std::vector<std::string> wanted = input_names();
  const Json found = json.value("inputs", Json::array());
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    const std::string mine = i < wanted.size() ? wanted[i] : "nothing";
    const std::string theirs =
        i < found.size() && found[i].is_string() ? found[i].get<std::string>() : "nothing";
    if (mine == theirs) continue;
    return Error{ErrorCode::kParse,
                 fmt::format("was trained on other features: '{}' where this program has '{}'",
                             theirs, mine),
                 learn};
  }
  return {};
}

}  // namespace

std::string model_text(const Model& model) {
  Json scores = {{"by_workload", to_json(model.by_workload)}};
  if (model.by_card) scores["by_card"] = to_json(*model.by_card);
  Json own = Json::object();
  for (const auto& [card, scales] : model.own_scales) own[card] = to_json(scales);
  Json json = {{"format", kFormat},
               {"version", kModelVersion},
               {"kind", to_string(model.kind)},
               {"inputs", input_names()},
               {"trained_on", to_json(model.sources)},
               {"cards", to_json(model.cards)},
               {"scores", std::move(scores)},
               {"calibration", to_json(model.calibration)},
               {"own_scales", std::move(own)},
               {"new_card", to_json(model.new_card)},
               {"mean_curve", to_json(model.mean)},
               {"relations", to_json(model.relations)}};
  if (!model.elsewhere.empty()) json["elsewhere"] = to_json(model.elsewhere);
  return json.dump() + "\n";
}

Result<Model> parse_model(std::string_view text, const std::string& name) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (const auto header = check_header(json); !header) {
    Error error = header.error();
    error.message = fmt::format("{} {}", name, error.message);
    return error;
  }
  try {
    Result<Model> model = model_from(json);
    if (!model) return model.error().in(name);
    return model;
  } catch (const nlohmann::json::exception&) {
    return Error{ErrorCode::kParse, name + " is damaged: a field is missing or has the wrong type",
                 "train one with 'hypermile learn'"};
  }
}

Result<Model> read_model(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text || text->empty()) {
    return Error{ErrorCode::kNotFound, path + ": cannot be read or is empty", "check --model"};
  }
  return parse_model(*text, path);
}

Result<void> write_model(const Model& model, const std::string& path) {
  return write_whole_file(path, model_text(model));
}

}  // namespace hypermile
