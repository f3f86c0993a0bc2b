import { ProjectRefused } from './project-refused.ts';

/** The configuration, its tools, their test and an evaluation, with file names that are not taken in the folder. */
export interface Sample {
  /** The contents by file name. Empty if the folder has a configuration. */
  readonly files: ReadonlyMap<string, string>;
  readonly config: string;
  readonly tools: string;
  /** Undefined if the folder has its own configuration and no test of the sample. */
  readonly test: string | undefined;
}

interface Folder {
  readonly has: (name: string) => boolean;
  /** If false, the sample's files need an extension that makes them modules. */
  readonly isModule: boolean;
  /** True if another program runs the folder's tests. It should not find ours, which only Node can run. */
  readonly hasOtherTests: boolean;
}

/** The file names that a configuration may have. */
const CONFIGS = ['ts', 'mts', 'js', 'mjs'].map((extension) => `lastcall.config.${extension}`);

/** `template` has the contents of the template's files by name. */
export function sampleFor(template: ReadonlyMap<string, string>, folder: Folder): Sample {
  const extension = folder.isModule ? 'ts' : 'mts';
  const named = (base: string): { tools: string; test: string } => ({
    tools: `${base}.${extension}`,
    test: folder.hasOtherTests ? `test-${base}.${extension}` : `${base}.test.${extension}`,
  });
  const pairs = [named('tools'), named('lastcall-tools')] as const;
  const own = CONFIGS.find(folder.has);
  if (own !== undefined)
    return {
      tools: pairs[0].tools,
      test: undefined,
      ...pairs.find(({ test }) => folder.has(test)),
      config: own,
      files: new Map(),
    };
  const free = pairs.find(({ tools, test }) => !folder.has(tools) && !folder.has(test));
  if (free === undefined) throw noFreeName(pairs.flatMap(Object.values).filter(folder.has));
  const text = (name: string): string => (template.get(name) ?? '').replaceAll('./tools.ts', `./${free.tools}`);
  const config = `lastcall.config.${extension}`;
  const evaluation = `clerk.eval.${extension}`;
  const files = [
    [config, text('lastcall.config.ts')],
    [free.tools, text('tools.ts')],
    [free.test, text('tools.test.ts')],
    // Nothing refers to it, so it is left out if the name is taken.
    ...(folder.has(evaluation) ? [] : [[evaluation, text('clerk.eval.ts')] as const]),
  ] as const;
  return { ...free, config, files: new Map(files) };
}

function noFreeName(taken: readonly string[]): ProjectRefused {
  return new ProjectRefused(
    `The folder already has ${taken.join(' and ')}, and the sample needs these names. Rename the files, or choose another folder.`,
  );
}
