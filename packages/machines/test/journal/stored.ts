import { type Machine, serializeMachine } from '../../src/index.ts';

/** The stored form, without parts that may be missing: sessions that never changed, empty conversations. */
export function stored(machine: Machine): unknown {
  const { threads, ...rest } = serializeMachine(machine);
  const begun = Object.entries(threads).filter(([, { transcript }]) => transcript.entries.length > 0);
  const all = begun.map(([id, { session: given, ...thread }]) => {
    const slices = Object.entries(given?.slices ?? {}).filter(
      ([, { state }]) => Object.keys(state as object).length > 0,
    );
    return [id, { ...thread, slices }];
  });
  return JSON.parse(JSON.stringify({ ...rest, threads: Object.fromEntries(all) }));
}
