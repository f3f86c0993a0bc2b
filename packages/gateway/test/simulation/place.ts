/** The spaces of a world. Only worlds with a guest have the East. */
export type Place = 'North' | 'South' | 'East';

export const PERSON_IN = { North: 'Ada', South: 'Bob', East: 'Eve' } as const;

const PLACES: Readonly<Record<string, Place>> = { n: 'North', s: 'South', e: 'East' };

/** Where a request was made: its reference says it. */
export function placeOf(ref: string): Place {
  return PLACES[ref.charAt(0)] ?? 'South';
}
