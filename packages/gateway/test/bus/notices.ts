import type { Bus, StreamEvent, StreamNotice } from '../../src/ports/bus/bus.ts';

export function eventOf(stream: string, seq: number, payload: unknown = { text: `${stream} ${seq}` }): StreamEvent {
  return { stream, seq, type: 'message.delta', payload, at: 1_000 + seq, revocations: 0 };
}

/** A subscription that stores its notices. */
export interface Heard {
  readonly notices: readonly StreamNotice[];
  /** Resolves once such a notice has arrived. */
  until(isIt: (notice: StreamNotice) => boolean): Promise<StreamNotice>;
}

export function listenTo(bus: Bus, stream: string): Heard {
  const notices: StreamNotice[] = [];
  const look: (() => void)[] = [];
  bus.subscribe(stream, (notice) => {
    notices.push(notice);
    for (const again of look.splice(0)) again();
  });
  return {
    notices,
    async until(isIt) {
      for (;;) {
        const found = notices.find(isIt);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => look.push(resolve));
      }
    },
  };
}
