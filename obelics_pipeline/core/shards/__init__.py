"""The format of a shard: record, tar, index and manifest, written, read and checked."""
