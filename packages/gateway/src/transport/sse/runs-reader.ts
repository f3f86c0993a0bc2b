import { readStream, type StreamItem, type StreamReader } from '../../domain/streams/read-stream.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import type { Services } from '../../ports/services.ts';
import type { EventReader } from './event-source.ts';

/** The events of several runs, one run after another, each from its first event to its last. */
export class RunsReader implements EventReader {
  readonly position = 0;
  readonly #services: Services;
  readonly #runIds: string[];
  #current: StreamReader | undefined;
  #isClosed = false;

  constructor(services: Services, runIds: readonly string[]) {
    this.#services = services;
    this.#runIds = [...runIds];
  }

  async next(): Promise<StreamItem | undefined> {
    const reader = await this.#reader();
    const item = await reader?.next();
    if (item?.kind === 'event' && item.event.type === 'run.end') {
      reader?.close();
      this.#current = undefined;
    }
    return item;
  }

  async look(): Promise<void> {
    await this.#current?.look();
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.close();
  }

  async #reader(): Promise<StreamReader | undefined> {
    if (this.#current !== undefined || this.#isClosed) return this.#current;
    const runId = this.#runIds.shift();
    if (runId === undefined) return undefined;
    const reader = await readStream(this.#services, { stream: runStream(runId), after: 0 });
    // This reader may have been closed meanwhile.
    if (this.#isClosed) reader.close();
    this.#current = reader;
    return reader;
  }
}
