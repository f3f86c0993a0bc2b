import type { Config } from './config.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';

/** Projects that name what the file does not have, or what another project has, and spaces with agents of two projects. */
export function projectProblems(config: Config): readonly ConfigProblem[] {
  const { projects, agents, spaces } = config;
  const repeated = projects.flatMap(({ id }, index) =>
    projects.findIndex((other) => other.id === id) < index
      ? [
          {
            path: formatPath(['projects', index, 'id']),
            message: `is ${JSON.stringify(id)} a second time. Rename one.`,
          },
        ]
      : [],
  );
  return [...repeated, ...named(config, 'agents', agents), ...named(config, 'spaces', spaces), ...mixed(config)];
}

function named(
  { projects }: Config,
  field: 'agents' | 'spaces',
  known: readonly { readonly name: string }[],
): readonly ConfigProblem[] {
  return projects.flatMap((project, index) =>
    (project[field] ?? []).flatMap((name, position) => {
      const path = formatPath(['projects', index, field, position]);
      const what = field === 'agents' ? 'an agent' : 'a space';
      if (!known.some((one) => one.name === name))
        return [{ path, message: `is not ${what} of this configuration: ${JSON.stringify(name)}.` }];
      const first = projects.findIndex((other) => other[field]?.includes(name) === true);
      return first < index ? [{ path, message: `belongs to the project ${JSON.stringify(projects[first]?.id)}.` }] : [];
    }),
  );
}

function mixed(config: Config): readonly ConfigProblem[] {
  return config.spaces.flatMap(({ name, agents = [] }, index) =>
    agents.flatMap((agent, position) =>
      projectOfSeed(config, 'agents', agent) === projectOfSeed(config, 'spaces', name)
        ? []
        : [
            {
              path: formatPath(['spaces', index, 'agents', position]),
              message: `is in another project than the space: ${JSON.stringify(agent)}. Write both into one project.`,
            },
          ],
    ),
  );
}

/** The project of an agent or a space of the file. */
export function projectOfSeed(
  { projects }: Pick<Config, 'projects'>,
  field: 'agents' | 'spaces',
  name: string,
): string | undefined {
  return projects.find((one) => one[field]?.includes(name) === true)?.id;
}
