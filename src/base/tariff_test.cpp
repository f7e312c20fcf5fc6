// SPDX-License-Identifier: Apache-2.0
#include "base/tariff.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hypermile {
namespace {

TEST(Tariff, ReadsPricesAsPeopleWriteThem) {
  EXPECT_EQ(parse_price("0.30EUR/kWh")->per_kwh, 0.3);
  EXPECT_EQ(parse_price("0.30 EUR/kWh")->currency, "EUR");
  EXPECT_EQ(parse_price("0.3€/kWh")->currency, "€");
  for (const char* text : {"0.30", "0.30EUR", "EUR/kWh", "-1EUR/kWh", "0.3/kWh", "", "1e9EUR/kWh",
                           "0,30EUR/kWh", "0.30EUR1/kWh"}) {
    const auto price = parse_price(text);
    ASSERT_FALSE(price.ok()) << text;
    EXPECT_EQ(price.error().code, ErrorCode::kUsage);
  }
}

TEST(Tariff, ReadsIntensitiesInGramsAndKilograms) {
  EXPECT_EQ(parse_carbon("380g/kWh")->g_per_kwh, 380);
  EXPECT_EQ(parse_carbon("380 gCO2e/kWh")->g_per_kwh, 380);
  EXPECT_EQ(parse_carbon("0.38kg/kWh")->g_per_kwh, 380);
  EXPECT_EQ(parse_carbon("380g/kWh")->source, "as given");
}

TEST(Tariff, KnowsCountriesWithTheirYearAndSource) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "run through ctest, or set it to the source folder";
  ::setenv("HYPERMILE_DATA", source, 1);
  const auto france = parse_carbon("fr");
  ASSERT_TRUE(france.ok()) << france.error().line();
  EXPECT_EQ(france->g_per_kwh, 56);
  EXPECT_EQ(france->source, "France in 2023, Ember and Energy Institute via Our World in Data");

  const auto nowhere = parse_carbon("Atlantis");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().remedy.find("FR"), std::string::npos) << nowhere.error().line();
}

TEST(Tariff, ComesBackFromALog) {
  const Tariff given{Price{0.3, "EUR"}, CarbonIntensity{380, "as given"}};
  const Tariff back = tariff_from(describe(given));
  EXPECT_EQ(back.price->per_kwh, 0.3);
  EXPECT_EQ(back.price->currency, "EUR");
  EXPECT_EQ(back.carbon->g_per_kwh, 380);
  EXPECT_FALSE(tariff_from({{"price_per_kwh", "much"}}).price);
}

}  // namespace
}  // namespace hypermile
