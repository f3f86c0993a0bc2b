// The public door of @lastcall/core/testing.
export { type FakeClock, fakeClock, settled } from './fake-clock.ts';
export { type ScriptedCall, type ScriptedModel, type ScriptedReply, scriptedModel } from './scripted-model.ts';
export { sequentialIds } from './sequential-ids.ts';
