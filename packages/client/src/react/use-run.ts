import { useCallback, useMemo, useState } from 'react';
import type { ConnectionState } from '../event-stream.ts';
import type { Run, RunEntry } from '../wire.generated.ts';
import { useLastcall } from './provider.ts';
import { type RunStep, toSteps } from './run-steps.ts';
import { useFollow } from './use-follow.ts';

export interface UsedRun {
  /** Undefined until it is loaded. */
  readonly run: Run | undefined;
  readonly steps: readonly RunStep[];
  readonly connection: ConnectionState;
  readonly error: Error | undefined;
  cancel(): Promise<void>;
}

/** A run, live: its steps and calls as they end. For clients with a secret key. */
export function useRun(id: string): UsedRun {
  const { client } = useLastcall();
  const [run, setRun] = useState<Run>();
  const [entries, setEntries] = useState<readonly RunEntry[]>([]);
  const { connection, error } = useFollow(
    async ({ signal, onConnection }) => {
      const known: RunEntry[] = [];
      setRun(undefined);
      setEntries(known);
      /** Reads what was written since the last time, in pages. */
      const load = async (): Promise<Run> => {
        for (let hasMore = true; hasMore; ) {
          const cursor = known.at(-1)?.seq.toString();
          const page = await client.runs.transcript(id, { cursor, limit: 200 }, { signal });
          known.push(...page.items);
          hasMore = page.next !== undefined;
        }
        const loaded = await client.runs.get(id, { signal });
        if (signal.aborted) return loaded;
        setEntries([...known]);
        setRun(loaded);
        return loaded;
      };
      // Loaded first and followed from there: every event makes it look again, so what came in between is not missed for long.
      const { status } = await load();
      if (status !== 'running') return;
      // What is still being written is not in the transcript yet.
      for await (const { type } of client.runs.stream(id, { after: 0, signal, onConnection }))
        if (!type.endsWith('delta') && (await load()).status !== 'running') return;
    },
    [client, id],
  );
  const cancel = useCallback(async () => setRun(await client.runs.cancel(id)), [client, id]);
  const steps = useMemo(() => toSteps(entries), [entries]);
  return { run, steps, connection, error, cancel };
}
