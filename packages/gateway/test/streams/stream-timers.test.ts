import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_GATEWAY_LIMITS } from '../../src/config/limits.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { eventSource } from '../../src/transport/sse/event-source.ts';
import { createOpenStreams } from '../../src/transport/sse/open-streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A stream without events, whose client may read for a day. */
function openStream() {
  const asked = { access: 0 };
  const streams = createOpenStreams(DEFAULT_GATEWAY_LIMITS, createMetrics());
  const body = eventSource({
    reader: { position: 0, next: () => new Promise(() => {}), look: async () => {}, close() {} },
    streams,
    holder: { caller: { kind: 'anonymous' }, address: '127.0.0.1' },
    logger,
    access: {
      isAllowed: async () => ++asked.access > 0,
      concerns: () => false,
      catchUp: () => undefined,
      ended: new AbortController().signal,
      expiresAt: Date.now() + 86_400_000,
      close() {},
    },
    heartbeatMs: 15_000,
    stallMs: 30_000,
  });
  return { asked, streams, body };
}

test('[G49] a stream whose client has left asks the store for nothing more and leaves no timer', async () => {
  const { asked, streams, body } = openStream();
  const reader = body.getReader();
  await reader.read();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(asked.access).toBe(1);
  await reader.cancel();
  expect(streams.count).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.access).toBe(1);
});
