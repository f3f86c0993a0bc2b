// The entry point of @lastcall/machines/internal, for the other packages of this repository. It is not covered by semantic
// versioning: a name here may change or go with any release, so other code should not import it.

export { listNodes } from '../charter/list-nodes.ts';
export { otherInstructions } from '../run/other-instructions.ts';
export { callerOf, canRepeat, changesOfCall, isTransitionOf, repeatChanges } from '../run/repeat-changes.ts';
