/** The columns of the timeline: number, outcome, words, how long, when. On a narrow screen the bar is a strip below. */
export const rowClass =
  'grid min-h-7 grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 px-4 wide:px-6 py-1 text-sm -outline-offset-2 wide:grid-cols-[2.25rem_9.5rem_minmax(0,1fr)_4.5rem_minmax(0,36%)] wide:py-0 pointer-coarse:min-h-11';
