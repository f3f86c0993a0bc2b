import { type ReactElement, useState } from 'react';
import { Button } from '../../../parts/ui/button.tsx';
import { Dialog } from '../../../parts/ui/dialog.tsx';
import { ConfigDiff } from './config-diff.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** Shows what would be saved as a version, and saves it. */
export function Review({ editor, onClose }: { editor: ConfigEditor; onClose: () => void }): ReactElement {
  const [isSaving, setSaving] = useState(false);
  const { version, config } = editor.base;
  const save = (): void => {
    setSaving(true);
    // Closes whether it was saved or not: refused values are shown at their fields.
    editor.save().then(onClose, onClose);
  };
  return (
    <Dialog title={`Version ${version} → ${version + 1}`} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <ConfigDiff before={config} after={editor.after ?? {}} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Keep editing</Button>
          <Button kind="primary" disabled={isSaving || !editor.isChanged} onClick={save}>
            {isSaving ? 'Saving …' : `Save v${version + 1}`}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
