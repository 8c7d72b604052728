// What becomes of encrypted bytes on a hostile way.
#include "fabric/records.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using testing_support::random_bytes;

RecordKey new_key() {
  RecordKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

// Feeds bytes to a reader, in pieces of at most `step`, and takes what it gives, until it has refused something.
struct Receiver {
  explicit Receiver(const RecordKey& key) : reader(key) {}

  void feed(std::span<const std::byte> bytes, size_t step = SIZE_MAX) {
    while (!bytes.empty() && !refused) {
      const std::span<std::byte> room = reader.room();
      const size_t size = std::min({step, bytes.size(), room.size()});
      std::copy_n(bytes.begin(), size, room.begin());
      reader.commit(size);
      bytes = bytes.subspan(size);
      take_all();
    }
  }

  void take_all() {
    for (;;) {
      const auto pending = reader.pending();
      if (!pending) refused = pending.error();
      if (!pending || !*pending) return;
      Bytes record(**pending);
      if (const auto taken = reader.take(record); !taken) {
        refused = taken.error();
        return;
      }
      got.insert(got.end(), record.begin(), record.end());
    }
  }

  RecordReader reader;
  Bytes got;
  std::optional<Error> refused;
};

class RecordsTest : public testing::Test {
 protected:
  // The stream of some messages, and where each begins in it.
  Bytes stream_of(const std::vector<Bytes>& messages) {
    RecordWriter writer(key_);
    Bytes stream;
    begins_.clear();
    for (const Bytes& message : messages) {
      begins_.push_back(begins_.empty() ? kStreamHeaderBytes : stream.size());
      writer.write(message, stream);
    }
    begins_.push_back(stream.size());
    return stream;
  }

  Bytes record(const Bytes& stream, size_t i) const {
    return {stream.begin() + static_cast<ptrdiff_t>(begins_[i]),
            stream.begin() + static_cast<ptrdiff_t>(begins_[i + 1])};
  }
  static void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

  const RecordKey key_ = new_key();
  const std::vector<Bytes> messages_{random_bytes(100, 1), random_bytes(1, 2), random_bytes(100, 3)};
  std::vector<size_t> begins_;
};

TEST_F(RecordsTest, ComeOutOfAnyPieces) {
  Bytes all;
  std::vector<Bytes> messages;
  std::mt19937 random(1);
  for (unsigned i = 0; i < 60; ++i) {
    messages.push_back(random_bytes(random() % 200'000, i));
    append(all, messages.back());
  }
  const Bytes stream = stream_of(messages);
  for (const size_t step : {size_t{1}, size_t{7}, size_t{4096}, SIZE_MAX}) {
    Receiver receiver(key_);
    receiver.feed(stream, step);
    EXPECT_FALSE(receiver.refused);
    EXPECT_TRUE(receiver.got == all) << step;
  }
}

TEST_F(RecordsTest, HaveNothingOfTheContentInThem) {
  const Bytes content(1000, std::byte{'x'});
  const Bytes first = stream_of({content});
  const Bytes second = stream_of({content});
  EXPECT_EQ(std::ranges::search(first, std::span(content).first(4)).size(), 0u);
  EXPECT_FALSE(std::ranges::equal(std::span(first).subspan(kStreamHeaderBytes + kRecordLengthBytes),
                                  std::span(second).subspan(kStreamHeaderBytes + kRecordLengthBytes)));
}

TEST_F(RecordsTest, RefuseEveryFlippedBit) {
  const Bytes stream = stream_of({messages_[0], messages_[2]});
  for (size_t bit = 0; bit < 8 * stream.size(); ++bit) {
    Bytes changed = stream;
    changed[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    Receiver receiver(key_);
    receiver.feed(changed);
    // A length that has grown waits for more: nothing is made of what is there.
    const bool before = receiver.got.empty() || receiver.got == messages_[0];
    EXPECT_TRUE(before) << "bit " << bit;
  }
}

TEST_F(RecordsTest, GiveNothingOfARecordThatIsCutOff) {
  const Bytes stream = stream_of(messages_);
  for (size_t size = 0; size < stream.size(); ++size) {
    Receiver receiver(key_);
    receiver.feed(std::span(stream).first(size));
    EXPECT_FALSE(receiver.refused);
    Bytes whole;
    for (size_t i = 0; i < messages_.size() && begins_[i + 1] <= size; ++i) append(whole, messages_[i]);
    EXPECT_TRUE(receiver.got == whole) << size;
  }
}

TEST_F(RecordsTest, RefuseAnotherOrderARepetitionAndAGap) {
  const Bytes stream = stream_of(messages_);
  const Bytes header(stream.begin(), stream.begin() + kStreamHeaderBytes);
  for (const std::vector<size_t>& order : {std::vector<size_t>{2, 1, 0}, {0, 0}, {0, 2}, {1}}) {
    Bytes changed = header;
    for (const size_t i : order) append(changed, record(stream, i));
    Receiver receiver(key_);
    receiver.feed(changed);
    EXPECT_TRUE(receiver.refused);
    EXPECT_TRUE(receiver.got.empty() || receiver.got == messages_[0]);
  }
}

TEST_F(RecordsTest, RefuseAnotherKeyAndAnotherStreamOfTheSame) {
  const Bytes stream = stream_of(messages_);
  Receiver other(new_key());
  other.feed(stream);
  EXPECT_TRUE(other.refused);
  EXPECT_TRUE(other.got.empty());
  const Bytes second = stream_of(messages_);
  Bytes mixed(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(begins_[1]));
  append(mixed, record(second, 1));
  Receiver receiver(key_);
  receiver.feed(mixed);
  EXPECT_TRUE(receiver.refused);
  EXPECT_TRUE(receiver.got == messages_[0]);
}

TEST_F(RecordsTest, HoldTheLengthToItsBoundsBeforeAnythingElse) {
  const Bytes stream = stream_of({messages_[0]});
  for (const uint32_t length : {0u, static_cast<uint32_t>(kRecordTagBytes),
                                static_cast<uint32_t>(kMaxRecordContent + kRecordTagBytes + 1), UINT32_MAX}) {
    Bytes changed(stream.begin(), stream.begin() + kStreamHeaderBytes + kRecordLengthBytes);
    store_le(changed.data() + kStreamHeaderBytes, length);
    Receiver receiver(key_);
    receiver.feed(changed);
    ASSERT_TRUE(receiver.refused) << length;
    EXPECT_EQ(receiver.refused->kind, ErrorKind::corrupt);
  }
}

// Of what libsodium can say in a record, only that it is one.
TEST_F(RecordsTest, RefuseTagsThatNobodyWrites) {
  crypto_secretstream_xchacha20poly1305_state state;
  for (const int tag :
       {crypto_secretstream_xchacha20poly1305_TAG_FINAL, crypto_secretstream_xchacha20poly1305_TAG_REKEY}) {
    Bytes stream(kStreamHeaderBytes + kRecordLengthBytes + 3 + kRecordTagBytes);
    auto* bytes = reinterpret_cast<unsigned char*>(stream.data());
    crypto_secretstream_xchacha20poly1305_init_push(&state, bytes, reinterpret_cast<const unsigned char*>(key_.data()));
    store_le(stream.data() + kStreamHeaderBytes, static_cast<uint32_t>(3 + kRecordTagBytes));
    crypto_secretstream_xchacha20poly1305_push(&state, bytes + kStreamHeaderBytes + kRecordLengthBytes, nullptr,
                                               reinterpret_cast<const unsigned char*>("abc"), 3, nullptr, 0,
                                               static_cast<unsigned char>(tag));
    Receiver receiver(key_);
    receiver.feed(stream);
    EXPECT_TRUE(receiver.refused);
    EXPECT_TRUE(receiver.got.empty());
  }
}

TEST_F(RecordsTest, KeepLittleMemoryForSmallMessages) {
  RecordWriter writer(key_);
  Receiver receiver(key_);
  for (int i = 0; i < 1000; ++i) {
    Bytes stream;
    writer.write(messages_[0], stream);
    receiver.feed(stream);
    receiver.got.clear();
  }
  EXPECT_FALSE(receiver.refused);
  EXPECT_LE(receiver.reader.room().size(), 8192u);
}

}  // namespace
}  // namespace forebay::fabric
