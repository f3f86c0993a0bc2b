// The door of @lastcall/core/internal, for the other packages of this repository. No version covers it: a name here may
// change or go with any release, so nobody else should import it.

export { advertise } from '../tools/advertise.ts';
export { closestNames } from '../tools/closest-names.ts';
export { toTranscriptJson } from '../turn/transcript-json.ts';
