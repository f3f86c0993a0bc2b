/** What will be done in a folder. The plan is complete before anything is written. */
export interface FolderPlan {
  /** The contents of new files, by name. */
  readonly added: ReadonlyMap<string, string>;
  /** Existing files that are extended. */
  readonly extended: readonly Extended[];
  /** Things that stay as they are although Lastcall would set them differently. */
  readonly left: readonly Left[];
  readonly commands: Commands;
}

/** The commands that run the folder's gateway and the sample's test. `test` is empty if there is no test. */
export interface Commands {
  readonly start: string;
  readonly dev: string;
  readonly test: string;
}

interface Extended {
  readonly file: string;
  readonly text: string;
  /** What was added: keys with their values, or lines. */
  readonly additions: readonly string[];
}

export interface Left {
  readonly file: string;
  /** A key of package.json, e.g. `scripts.test`. */
  readonly key?: string;
  /** What was left, and what the user may want to do. */
  readonly note: string;
}
