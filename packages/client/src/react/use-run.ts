import { useCallback, useMemo, useState } from 'react';
import { backoffMs, pause } from '../backoff.ts';
import type { ConnectionState } from '../event-stream.ts';
import { type RunStep, toSteps, waitingAt } from '../timeline/steps.ts';
import type { Run, RunEntry, RunEvent } from '../wire.generated.ts';
import { useLastcall } from './provider.ts';
import { useFollow } from './use-follow.ts';
import { HIDDEN_MS } from './use-space.ts';

export interface UsedRun {
  /** Undefined until it is loaded. */
  readonly run: Run | undefined;
  readonly steps: readonly RunStep[];
  /** All entries of the run, in order; `steps` are derived from them. */
  readonly entries: readonly RunEntry[];
  /** With `withWriting`: the text that the model is writing. Empty once it is a step, and in runs whose stream has no texts. */
  readonly writing: string;
  readonly connection: ConnectionState;
  readonly error: Error | undefined;
  cancel(): Promise<void>;
}

export interface RunOptions {
  /** Follows the text of the model, from the beginning of the run. Default false: only steps and calls. */
  readonly withWriting?: boolean;
}

/** A run, live: its steps and calls as they end. For clients with a secret key. */
export function useRun(id: string, { withWriting = false }: RunOptions = {}): UsedRun {
  const { client } = useLastcall();
  const [run, setRun] = useState<Run>();
  const [entries, setEntries] = useState<readonly RunEntry[]>([]);
  const [written, setWritten] = useState(NOTHING);
  const forget = (): void => {
    setRun(undefined);
    setEntries([]);
    setWritten(NOTHING);
  };
  const { connection, error } = useFollow(
    async ({ signal, onConnection, setError }) => {
      const known: RunEntry[] = [];
      forget();
      /**
       * Reads the run, then the entries written since the last read, in pages. The order matters: a run that has ended
       * writes no more.
       */
      const load = async (): Promise<Run> => {
        const read = await client.runs.get(id, { signal });
        const hasEnded = read.status !== 'running' && read.status !== 'queued';
        // A call may wait longer than its run lasts: the entry of its wait changes once the call has ended.
        const [firstWaiting] = hasEnded ? waitingAt(known) : [];
        if (firstWaiting !== undefined) known.splice(firstWaiting);
        for (let hasMore = true; hasMore; ) {
          const cursor = known.at(-1)?.seq.toString();
          const page = await client.runs.transcript(id, { cursor, limit: 200 }, { signal });
          known.push(...page.items);
          hasMore = page.next !== undefined;
        }
        return read;
      };
      const ended = new AbortController();
      const show = async (): Promise<void> => {
        const loaded = await load();
        if (signal.aborted) return;
        failures = 0;
        setError(undefined);
        setEntries([...known]);
        setRun(loaded);
        const hasEnded = loaded.status !== 'running' && loaded.status !== 'queued';
        if (hasEnded && waitingAt(known).length === 0) ended.abort();
      };
      const following = AbortSignal.any([signal, ended.signal]);
      let failures = 0;
      const refresh = oneAtATime(show, (error) => {
        if (following.aborted) return;
        setError(error);
        failures += 1;
        // There may be no further event.
        void pause(backoffMs(failures), following).then(() => (following.aborted ? undefined : refresh()));
      });
      const events = client.runs.stream(id, {
        signal: following,
        // Without its beginning, a text would be wrong.
        ...(withWriting ? { after: 0 } : {}),
        hiddenMs: HIDDEN_MS,
        onConnection(state) {
          // From here on, the stream reports every change.
          if (state === 'live') refresh();
          onConnection(state);
        },
      });
      // Text that is still being written is not in the transcript yet.
      try {
        for await (const event of events) {
          if (!event.type.endsWith('delta')) refresh();
          if (withWriting) setWritten((before) => nextWritten(before, event));
        }
      } finally {
        ended.abort();
      }
    },
    { deps: [client, id, withWriting], forget },
  );
  const cancel = useCallback(async () => {
    const cancelled = await client.runs.cancel(id);
    // By now the hook may show another run.
    setRun((shown) => (shown?.id === cancelled.id ? cancelled : shown));
  }, [client, id]);
  const steps = useMemo(() => toSteps(entries), [entries]);
  const writing = run?.status === 'running' && !steps.some(({ step }) => step === written.step) ? written.text : '';
  return { run, steps, entries, writing, connection, error, cancel };
}

/** The text of a step that has not ended. */
interface Written {
  readonly step: number;
  readonly text: string;
}

const NOTHING: Written = { step: 0, text: '' };

function nextWritten(before: Written, event: RunEvent): Written {
  if (event.type === 'step.start') return { step: event.step, text: '' };
  if (event.type !== 'text.delta') return before;
  return { step: event.step, text: (before.step === event.step ? before.text : '') + event.delta };
}

/**
 * Runs the work again once it is done if it was requested meanwhile: only the last state of a burst of events counts.
 */
function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isRunning = false;
  let isDue = false;
  const start = (): void => {
    isDue = isRunning;
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onError)
      .finally(() => {
        isRunning = false;
        if (isDue) start();
      });
  };
  return start;
}
