// The entry point of @lastcall/core/internal, for the other packages of this repository. It is not covered by semantic
// versioning: a name here may change or go with any release, so other code should not import it.

export { backoffMs } from '../backoff-ms.ts';
export { closestNames } from '../closest-names.ts';
export { DEFAULT_CONSECUTIVE_NUDGES, DEFAULT_MAX_INVOCATIONS, DEFAULT_NUDGE } from '../contract/terminating.ts';
export { randomId, systemClock } from '../defaults.ts';
export { type Deferred, deferred } from '../deferred.ts';
export { remainingMs } from '../dispatch/call-context.ts';
export { inexactNumber, longNumbers } from '../dispatch/inexact-number.ts';
export { readArguments } from '../dispatch/read-arguments.ts';
export { recordedEnd } from '../dispatch/recorded-end.ts';
export { normalisePath } from '../files/file-path.ts';
export { assertFileSize, encodeText } from '../files/file-text.ts';
export { matchLines } from '../files/match-lines.ts';
export { parsePathPattern } from '../files/path-pattern.ts';
export { writeModeOf } from '../files/write-mode.ts';
export { liftModel } from '../model/lift-model.ts';
export { streamResult } from '../model/stream-result.ts';
export { addUsage, noUsage, readUsage } from '../model/usage.ts';
export { parseJson } from '../parse-json.ts';
export { isPolicy } from '../policies/policy.ts';
export { mapPrompt } from '../prompt/build-prompt.ts';
export { openedSections } from '../prompt/opened-sections.ts';
export { measureJson, schemaSize } from '../schema/schema-size.ts';
export { forkSession, hostedSession, type SessionHost } from '../session/fork-session.ts';
export { leaveUnrecorded } from '../session/slice.ts';
export { settlesWithin } from '../settles-within.ts';
export { advertise } from '../tools/advertise.ts';
export { dataTool } from '../tools/data-tool.ts';
export { endingCall } from '../transcript/ending-call.ts';
export { assertJournal, recordsProblem } from '../transcript/journal.ts';
export { isTextReply } from '../transcript/text-reply.ts';
export { isPlainEntry, toPlainValue, toTranscriptJson } from '../transcript/transcript-json.ts';
export { brokenOffBefore } from '../turn/broken-off.ts';
export { isUnreadable } from '../turn/read-stream.ts';
export { responseOf } from '../turn/response-of.ts';
export { toPrompt } from '../turn/to-prompt.ts';
export { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
