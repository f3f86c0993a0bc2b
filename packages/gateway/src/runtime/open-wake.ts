/**
 * The wakes of a thread since a worker last read its events, as one value: those events may be newer than what it read.
 * `urgent`: a person waits for one of them.
 */
export type OpenWake = 'none' | 'woken' | 'urgent';

export function toWake(isUrgent: boolean): OpenWake {
  return isUrgent ? 'urgent' : 'woken';
}

/** A later wake never makes an urgent one less urgent. */
export function addWake(wake: OpenWake, later: OpenWake): OpenWake {
  return later === 'none' || wake === 'urgent' ? wake : later;
}

/** A person waits for the events that the wake is about. Events that were read meanwhile need no further wake. */
export function makeUrgent(wake: OpenWake): OpenWake {
  return wake === 'none' ? 'none' : 'urgent';
}
