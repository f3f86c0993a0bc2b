import type { Policy, Prompt } from '@lastcall/core';
import { closestNames } from '@lastcall/core/internal';
import type { AgentDefinition } from './agent-definition.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';

export function repeatedIn<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const names = all.map(nameOf);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [{ path: formatPath([...path, index]), message: `is "${name}" a second time. Remove or rename one.` }]
      : [],
  );
}

/** A resource with this key is the file system of tools. */
export function secondFilesystem(
  files: boolean,
  resources: NonNullable<AgentDefinition['resources']>,
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const index = files ? resources.findIndex(({ key }) => key === 'filesystem') : -1;
  if (index === -1) return [];
  const message = 'has the key "filesystem", and the definition has files: true. Remove one.';
  return [{ path: formatPath([...path, index]), message }];
}

/** A slice of the list and one of a section may be the same object, but not two objects with one name. */
export function clashingSlices(
  slices: NonNullable<AgentDefinition['slices']>,
  instructions: string | Prompt,
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const ofPrompt = typeof instructions === 'object' ? instructions.slices : [];
  return slices.flatMap((slice, index) =>
    ofPrompt.some((one) => one.name === slice.name && (one as unknown) !== slice)
      ? [
          {
            path: formatPath([...path, index]),
            message: `is "${slice.name}", and a section has another slice of that name. Rename one, or share one definition.`,
          },
        ]
      : [],
  );
}

export function unknownInPolicies(
  policies: readonly Policy[],
  names: readonly string[],
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  return policies.flatMap(({ tools = [] }, index) =>
    tools
      .filter((name) => !names.includes(name))
      .map((name) => ({
        path: formatPath([...path, index]),
        message: `names the tool "${name}", which this definition does not have.${closestHint(name, names)}`,
      })),
  );
}

/** Empty if no name is close to the wrong one. */
export function closestHint(name: string, names: readonly string[]): string {
  const closest = closestNames(name, names).map((one) => JSON.stringify(one));
  return closest.length === 0 ? '' : ` Did you mean ${closest.join(' or ')}?`;
}
