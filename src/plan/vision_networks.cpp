// SPDX-License-Identifier: Apache-2.0
//
// ResNet50 and VGG16 as torchvision builds them, on 224 × 224 images.
#include <string>

#include "plan/builtin_networks.h"
#include "plan/layer_makers.h"

namespace hypermile {
namespace {

constexpr std::int64_t kImage = 224;
constexpr std::int64_t kClasses = 1000;

// Appends layers to a network and keeps the output shape of the last one.
class ImageNetwork {
 public:
  ImageNetwork(std::string name, std::int64_t batch) : shape_{batch, 3, kImage, kImage} {
    network_.name = std::move(name);
    network_.batch = batch;
  }

  void conv(const std::string& name, std::int64_t out, std::int64_t kernel, std::int64_t stride,
            bool bias) {
    Shape to = {shape_[0], out, shape_[2] / stride, shape_[3] / stride};
    add(make_conv(name, shape_, to, kernel * kernel, 1, bias));
  }
  void batch_norm(const std::string& name) { add(make_batch_norm(name, shape_)); }
  void relu(const std::string& name) { add(make_relu(name, shape_)); }
  void dropout(const std::string& name) { add(make_dropout(name, shape_)); }
  void sum(const std::string& name) { add(make_add(name, shape_)); }
  void linear(const std::string& name, std::int64_t out) {
    add(make_linear(name, shape_, out, true));
  }
  void max_pool(const std::string& name, std::int64_t kernel) {
    Shape to = {shape_[0], shape_[1], shape_[2] / 2, shape_[3] / 2};
    add(make_max_pool(name, shape_, to, {kernel, kernel, 2, 2}));
  }
  void average_pool(const std::string& name, std::int64_t side) {
    add(make_average_pool(name, shape_, {shape_[0], shape_[1], side, side}));
    shape_ = {shape_[0], shape_[1] * side * side};
  }

  const Shape& shape() const { return shape_; }
  void from(const Shape& shape) { shape_ = shape; }
  Network done() && {
    network_.layers.front().input_gradient = false;
    network_.layers.push_back(make_cross_entropy("loss", shape_));
    return std::move(network_);
  }

 private:
  void add(Layer layer) {
    shape_ = layer.out;
    network_.layers.push_back(std::move(layer));
  }

  Network network_;
  Shape shape_;
};

// Convolutions of 1×1, 3×3 and 1×1, followed by the addition of the block's input.
void bottleneck(ImageNetwork& net, const std::string& name, std::int64_t width, std::int64_t stride,
                bool downsample) {
  const Shape in = net.shape();
  net.conv(name + ".conv1", width, 1, 1, false);
  net.batch_norm(name + ".bn1");
  net.relu(name + ".relu1");
  net.conv(name + ".conv2", width, 3, stride, false);
  net.batch_norm(name + ".bn2");
  net.relu(name + ".relu2");
  net.conv(name + ".conv3", 4 * width, 1, 1, false);
  net.batch_norm(name + ".bn3");
  if (downsample) {
    net.from(in);
    net.conv(name + ".downsample.0", 4 * width, 1, stride, false);
    net.batch_norm(name + ".downsample.1");
  }
  net.sum(name + ".add");
  net.relu(name + ".relu3");
}

}  // namespace

Network make_resnet50(std::int64_t batch) {
  ImageNetwork net("resnet50", batch);
  net.conv("conv1", 64, 7, 2, false);
  net.batch_norm("bn1");
  net.relu("relu");
  net.max_pool("maxpool", 3);
  struct Section {
    int blocks;
    std::int64_t width, stride;
  };
  int number = 0;
  for (const Section& section :
       {Section{3, 64, 1}, Section{4, 128, 2}, Section{6, 256, 2}, Section{3, 512, 2}}) {
    ++number;
    for (int block = 0; block < section.blocks; ++block) {
      const std::string name = "layer" + std::to_string(number) + "." + std::to_string(block);
      bottleneck(net, name, section.width, block == 0 ? section.stride : 1, block == 0);
    }
  }
  net.average_pool("avgpool", 1);
  net.linear("fc", kClasses);
  return std::move(net).done();
}

Network make_vgg16(std::int64_t batch) {
  ImageNetwork net("vgg16", batch);
  int number = 0;
  const auto name = [&] { return "features." + std::to_string(number++); };
  struct Section {
    int convolutions;
    std::int64_t width;
  };
  for (const Section& section :
       {Section{2, 64}, Section{2, 128}, Section{3, 256}, Section{3, 512}, Section{3, 512}}) {
    for (int i = 0; i < section.convolutions; ++i) {
      net.conv(name(), section.width, 3, 1, true);
      net.relu(name());
    }
    net.max_pool(name(), 2);
  }
  net.average_pool("avgpool", 7);
  number = 0;
  const auto classifier = [&] { return "classifier." + std::to_string(number++); };
  for (int i = 0; i < 2; ++i) {
    net.linear(classifier(), 4096);
    net.relu(classifier());
    net.dropout(classifier());
  }
  net.linear(classifier(), kClasses);
  return std::move(net).done();
}

}  // namespace hypermile
