import type { ApiError } from '../../domain/api-error.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { readStream } from '../../domain/streams/read-stream.ts';
import type { Revocations } from '../../domain/streams/revocations.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EventFormat } from '../sse/event-format.ts';
import { type EventReader, eventSource } from '../sse/event-source.ts';
import type { OpenStreams } from '../sse/open-streams.ts';
import { openStreamAccess } from '../sse/stream-access.ts';
import { assertStillValid } from './authenticate.ts';
import type { Exchange } from './endpoint.ts';

export interface StreamOptions {
  readonly services: Services;
  readonly streams: OpenStreams;
  readonly revocations: Revocations;
  readonly heartbeatMs: number;
}

/** A stream that the caller may read. */
export interface OpenedStream {
  readonly stream: string;
  /** Replaces the default reader, which reads the stream. */
  readonly reader?: EventReader;
  /** The last event that the client has. Default: the newest one. */
  readonly lastEventId: number | undefined;
  /** Throws an ApiError once the caller may no longer read. */
  readonly assertAllowed: (tx: Pick<Tx, 'db'>) => Promise<void>;
  /** The first events for a client without an event id. */
  readonly firstEvents?: () => Promise<Uint8Array | undefined>;
  /**
   * The last bytes of the stream, if it ends after this event. Without an event: earlier ones are deleted. The signal is aborted
   * when the stream is over.
   */
  readonly finish?: (event: StreamEvent | undefined, signal: AbortSignal) => Promise<Uint8Array> | undefined;
  /** Why the caller may no longer read, if what the stream shows was deleted: `format.failed` encodes it. */
  readonly deletion?: () => Promise<ApiError | undefined>;
  /** The format of events. Default: the gateway's own format. */
  readonly format?: EventFormat;
  /** Headers in addition to those of every stream. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openStream(
  { stream, lastEventId, assertAllowed, firstEvents, finish, deletion, format, headers, reader: given }: OpenedStream,
  { request, caller, address, place, disconnect, markEventStream }: Exchange,
  { services, streams, revocations, heartbeatMs }: StreamOptions,
): Promise<Response> {
  const { store } = services;
  const after = headerEventId(request) ?? lastEventId;
  const access = await openStreamAccess({ store, revocations, caller, assertAllowed });
  let reader = given;
  try {
    reader ??= await readStream(services, { stream, ...(after === undefined ? {} : { after }) });
    // Checked again, now that the stream is open and revocations are watched: a right that ended in between would not be
    // noticed.
    await assertStillValid(store.db, caller);
    await assertAllowed(store);
    // Read after the stream was opened: an event in between may come twice, but none is missed.
    const greeting = after === undefined ? await firstEvents?.() : undefined;
    // The stream takes its own place instead of the reserved one.
    place?.release();
    const body = eventSource({
      reader,
      streams,
      holder: { caller, address },
      logger: services.logger,
      heartbeatMs,
      stallMs: services.limits.streamStallMs,
      access,
      ...(greeting === undefined ? {} : { greeting }),
      ...(finish === undefined ? {} : { finish }),
      ...(deletion === undefined ? {} : { deletion }),
      ...(format === undefined ? {} : { format }),
      ...(disconnect === undefined ? {} : { disconnect }),
    });
    markEventStream?.();
    const position = { 'last-event-id': String(reader.position) };
    return new Response(body, { headers: { ...STREAM_HEADERS, ...position, ...headers } });
  } catch (error) {
    reader?.close();
    access.close();
    throw error;
  }
}

/** The header takes precedence over the query: a client that reconnects sends the old URL with a current header. */
export function headerEventId(request: Request): number | undefined {
  const header = request.headers.get('last-event-id');
  if (header === null) return undefined;
  if (!/^\d{1,15}$/.test(header)) throw invalid('Last-Event-ID', 'must be the id of an event of this stream.');
  return Number(header);
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-store, no-transform',
  // Proxies that buffer responses would never pass on a stream.
  'x-accel-buffering': 'no',
};
