// The entry point of @lastcall/core/internal, for the other packages of this repository. It is not covered by semantic
// versioning: a name here may change or go with any release, so other code should not import it.

export { backoffMs } from '../backoff-ms.ts';
export { type Deferred, deferred } from '../deferred.ts';
export { readArguments } from '../dispatch/read-arguments.ts';
export { measureJson, schemaSize } from '../schema/schema-size.ts';
export { forkSession } from '../session/fork-session.ts';
export { advertise } from '../tools/advertise.ts';
export { closestNames } from '../tools/closest-names.ts';
export { dataTool } from '../tools/data-tool.ts';
export { streamResult } from '../turn/stream-result.ts';
export { DEFAULT_CONSECUTIVE_NUDGES, DEFAULT_MAX_INVOCATIONS } from '../turn/terminating.ts';
export { toPrompt } from '../turn/to-prompt.ts';
export { isPlainEntry, toPlainValue, toTranscriptJson } from '../turn/transcript-json.ts';
export { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
