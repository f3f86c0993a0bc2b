import { Users } from 'lucide-react';
import type { ReactElement } from 'react';
import { readable } from '../../../parts/form/field.ts';
import { Button } from '../../../parts/ui/button.tsx';
import { ConfigDiff } from './config-diff.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** Another user saved while this was edited. Both versions are shown, and no typed text is lost. */
export function ConflictNote({ editor }: { editor: ConfigEditor }): ReactElement | null {
  const { conflict, base } = editor;
  if (conflict === undefined) return null;
  const { theirs, both } = conflict;
  return (
    <section
      role="alert"
      aria-label="Another user saved"
      className="flex flex-col gap-3 rounded-card border border-line bg-wait-soft p-4"
    >
      <p className="flex gap-2 font-medium">
        <Users size={16} aria-hidden className="mt-0.5 shrink-0 text-wait" />
        Another user saved version {theirs.version} while you were editing version {base.version}.
      </p>
      <p>
        Your changes are kept here and are not saved yet.{' '}
        {both.length === 0
          ? 'You changed other fields than they did, so both changes can be kept.'
          : `You both changed: ${both.map(readable).join(', ')}. If you keep yours, it replaces theirs in these fields.`}
      </p>
      <details>
        <summary className="text-sm">
          What they changed, version {base.version} → {theirs.version}
        </summary>
        <div className="pt-2">
          <ConfigDiff before={base.config} after={theirs.config} />
        </div>
      </details>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={editor.rebase}>
          Keep mine, on top of theirs
        </Button>
        <Button onClick={editor.discard}>Take theirs, drop mine</Button>
      </div>
    </section>
  );
}
