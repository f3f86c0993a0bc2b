import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { chooseProject, chosenProject } from '../data/project.ts';
import { projectList } from '../data/projects.ts';
import { useSession } from '../parts/session/session.tsx';

/** For operators who see several projects: which of them the pages show. */
export function ProjectPicker(): ReactElement | null {
  const { session } = useSession();
  const isOperator = session.scopes.includes('admin') || session.scopes.includes('read');
  const { data: projects = [], isSuccess } = useQuery({ ...projectList, enabled: isOperator });
  const chosen = chosenProject();
  const isGone = isSuccess && chosen !== undefined && !projects.some(({ id }) => id === chosen);
  useEffect(() => {
    // It was deleted, or the user may no longer see it. Nothing would be found in it.
    if (isGone) chooseProject(undefined);
  }, [isGone]);
  if (projects.length < 2) return null;
  return (
    <label className="inline-flex items-center gap-1">
      Project
      <select
        value={chosen ?? ''}
        onChange={({ target }) => chooseProject(target.value === '' ? undefined : target.value)}
        className="max-w-40 rounded border border-line bg-surface px-1 text-text pointer-coarse:min-h-11"
      >
        <option value="">all</option>
        {projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {withVisibleControls(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
