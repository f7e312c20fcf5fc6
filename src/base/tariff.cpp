// SPDX-License-Identifier: Apache-2.0
#include "base/tariff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/csv.h"
#include "base/data_file.h"
#include "base/parse.h"

namespace hypermile {
namespace {

constexpr std::string_view kPerKwh = "/kWh";

// An amount as people write it: a number, then its unit, here without blanks.
struct Amount {
  double value = 0;
  std::string unit;
};

std::optional<Amount> amount_per_kwh(std::string_view text) {
  if (!text.ends_with(kPerKwh)) return std::nullopt;
  text.remove_suffix(kPerKwh.size());
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const Result<double> value = parse_number(text.substr(0, end));
  if (!value || *value < 0) return std::nullopt;
  std::string unit(text.substr(end));
  std::erase(unit, ' ');
  if (unit.empty()) return std::nullopt;
  return Amount{*value, std::move(unit)};
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

Error unknown_country(std::string_view text, const std::string& known) {
  return Error{ErrorCode::kUsage,
               fmt::format("expected an intensity such as 380g/kWh or a country, got '{}'", text),
               "countries that are known: " + known};
}

Result<CarbonIntensity> of_country(std::string_view text) {
  const Result<std::string> path = find_data_file("carbon/intensity.csv");
  if (!path) return unknown_country(text, "none, as carbon/intensity.csv is missing");
  std::ifstream in(*path);
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, *path));
  const auto country = reader.column("country"), name = reader.column("name"),
             grams = reader.column("g_per_kwh"), year = reader.column("year"),
             source = reader.column("source");
  if (!country || !name || !grams || !year || !source) {
    return reader.error("expected the columns country, name, g_per_kwh, year, source");
  }
  std::string known;
  while (true) {
    ASSIGN_OR_RETURN(const auto cells, reader.next());
    if (!cells) return unknown_country(text, known);
    if ((*cells)[*country] == upper(text)) {
      ASSIGN_OR_RETURN(const double value, parse_number((*cells)[*grams]));
      return CarbonIntensity{
          value, fmt::format("{} in {}, {}", (*cells)[*name], (*cells)[*year], (*cells)[*source])};
    }
    known += (known.empty() ? "" : ", ") + (*cells)[*country];
  }
}

}  // namespace

Result<Price> parse_price(std::string_view text) {
  const auto amount = amount_per_kwh(text);
  // "1e9EUR" would be 1 of the currency "e9EUR".
  const bool clear = amount && amount->unit.find_first_of("0123456789,") == std::string::npos;
  if (clear) return Price{amount->value, amount->unit};
  return Error{ErrorCode::kUsage,
               fmt::format("expected a price such as 0.30EUR/kWh, got '{}'", text)};
}

Result<CarbonIntensity> parse_carbon(std::string_view text) {
  if (const auto amount = amount_per_kwh(text)) {
    if (amount->unit.starts_with("kg")) return CarbonIntensity{1e3 * amount->value, "as given"};
    if (amount->unit.starts_with("g")) return CarbonIntensity{amount->value, "as given"};
  }
  return of_country(text);
}

std::map<std::string, std::string> describe(const Tariff& tariff) {
  std::map<std::string, std::string> facts;
  if (tariff.price) {
    facts["price_per_kwh"] = fmt::format("{}", tariff.price->per_kwh);
    facts["currency"] = tariff.price->currency;
  }
  if (tariff.carbon) {
    facts["carbon_g_per_kwh"] = fmt::format("{}", tariff.carbon->g_per_kwh);
    facts["carbon_source"] = tariff.carbon->source;
  }
  return facts;
}

Tariff tariff_from(const std::map<std::string, std::string>& environment) {
  const auto text = [&](const char* key) {
    const auto found = environment.find(key);
    return found != environment.end() ? found->second : std::string();
  };
  Tariff tariff;
  if (const auto price = parse_number(text("price_per_kwh")); price && *price >= 0) {
    tariff.price = Price{*price, text("currency")};
  }
  if (const auto grams = parse_number(text("carbon_g_per_kwh")); grams && *grams >= 0) {
    tariff.carbon = CarbonIntensity{*grams, text("carbon_source")};
  }
  return tariff;
}

}  // namespace hypermile
