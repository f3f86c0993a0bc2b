/** What is to be done in a folder. It is complete before anything is written. */
export interface FolderPlan {
  /** Texts by the names of files that are not there yet. */
  readonly added: ReadonlyMap<string, string>;
  /** Files that are there and get something added. */
  readonly extended: readonly Extended[];
  /** What stays as it is although Lastcall would have it otherwise. */
  readonly left: readonly Left[];
  readonly commands: Commands;
}

/** How the folder's gateway and the test of the sample are run. The test is empty if there is none. */
export interface Commands {
  readonly start: string;
  readonly dev: string;
  readonly test: string;
}

interface Extended {
  readonly file: string;
  readonly text: string;
  /** What is new in it: keys with their values, or lines. */
  readonly additions: readonly string[];
}

export interface Left {
  readonly file: string;
  /** A key of package.json, e.g. `scripts.test`. */
  readonly key?: string;
  /** What it is, and what a person may want to do. */
  readonly note: string;
}
