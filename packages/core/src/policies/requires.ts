import { OptionsError } from '../errors.ts';
import { succeededTools } from '../session/succeeded-tools.ts';
import type { Policy } from './policy.ts';

/**
 * A tool may run only after others have succeeded in this session: `requires({ deploy: ['test', 'build'] })`. The other
 * tools may come from anywhere. Put the policy where the dependent tool is.
 */
// NoInfer, because in a list of policies the names would otherwise be inferred as `string`.
export function requires<Dependent extends string, Prerequisite extends string>(
  prerequisites: Readonly<Record<Dependent, readonly Prerequisite[]>>,
): Policy<NoInfer<Dependent | Prerequisite>> {
  const required = new Map<string, readonly Prerequisite[]>(Object.entries<readonly Prerequisite[]>(prerequisites));
  for (const [name, names] of required) {
    const right = Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === 'string');
    if (!right) throw new OptionsError(`requires.${name}`, 'must be a list of names of tools.');
  }
  return {
    name: 'requires',
    tools: [...new Set([...(required.keys() as Iterable<Dependent>), ...[...required.values()].flat()])],
    beforeCall({ toolName }, { session }) {
      const succeeded = session.read(succeededTools);
      const missing = (required.get(toolName) ?? []).filter((name) => !Object.hasOwn(succeeded, name));
      if (missing.length === 0) return undefined;
      return {
        deny: `"${toolName}" needs a successful call of ${missing.map((name) => `"${name}"`).join(' and ')} first.`,
      };
    },
  };
}
