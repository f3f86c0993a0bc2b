// The public entry point of @lastcall/core/testing.
export { CassetteError } from './cassette/cassette.ts';
export type { CassetteOptions } from './cassette/normal-request.ts';
export { type RecordOptions, recordModel } from './cassette/record-model.ts';
export { type ReplayOptions, replayModel } from './cassette/replay-model.ts';
export { type CrashingJournal, crashingJournal, ProcessKilled } from './crashing-journal.ts';
export { type FakeClock, fakeClock, settled } from './fake-clock.ts';
export {
  type CrashReport,
  type CrashScenario,
  type CrashTry,
  killAtEveryBoundary,
} from './kill-at-every-boundary.ts';
export { type MemoryJournal, memoryJournal } from './memory-journal.ts';
export { type ScriptedCall, type ScriptedModel, type ScriptedReply, scriptedModel } from './scripted-model.ts';
export { sequentialIds } from './sequential-ids.ts';
