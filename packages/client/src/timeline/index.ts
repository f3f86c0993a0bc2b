// The public door of @lastcall/client/timeline. It is a separate entry point because pages that show no runs do not need it.
export type { Arrival } from './arrivals.ts';
export { type CallStatus, callStatus, NEVER_RAN, statusOfCard } from './call-status.ts';
export type { Origin } from './machine-steps.ts';
export type { CallRow, LineRow, LostAttempt, StepRow, Timeline, TimelineRow } from './rows.ts';
export { toStory, toTimeline, type WrittenRun } from './to-timeline.ts';
