import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useBlocker } from '@tanstack/react-router';
import { Braces, ListTree } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { NeedsScope } from '../../../parts/session/requires.tsx';
import { useMay } from '../../../parts/session/session.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../../parts/ui/confirm-dialog.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { TextArea } from '../../../parts/ui/field.tsx';
import { Section } from '../../../parts/ui/page.tsx';
import { keep, readKept } from '../workbench/kept-draft.ts';
import { ConfigFields } from './config-fields.tsx';
import { ConflictNote } from './conflict-note.tsx';
import { FromFile } from './from-file.tsx';
import { Review } from './review.tsx';
import { TryTasks } from './try-tasks.tsx';
import { type ConfigEditor, useConfigEditor } from './use-config-editor.ts';
import { useKeptEdits } from './use-kept-edits.ts';
import { VersionList } from './version-list.tsx';

export function ConfigTab({ agent }: { agent: Agent }): ReactElement {
  // The workbench keeps its own edits under the id alone.
  const name = `${agent.id}.form`;
  const editor = useConfigEditor(agent, readKept(name));
  useKeptEdits(name, editor);
  const [isReviewing, setReviewing] = useState(false);
  return (
    <>
      {agent.source === 'file' && <FromFile />}
      <ConflictNote editor={editor} />
      <Section title={`Configuration, version ${editor.base.version}`} aside={<ModeSwitch editor={editor} />}>
        <Editor agentId={agent.id} editor={editor} onReview={() => editor.check() && setReviewing(true)} />
      </Section>
      <VersionList
        agent={agent}
        onRestore={(config) => {
          editor.load(config);
          setReviewing(true);
        }}
      />
      {isReviewing && <Review editor={editor} onClose={() => setReviewing(false)} />}
      <AskBeforeLeaving isChanged={editor.isChanged} onLeave={() => keep(name, undefined)} />
    </>
  );
}

interface AskBeforeLeavingProps {
  readonly isChanged: boolean;
  readonly onLeave: () => void;
}

/** Asks before unsaved changes are lost by a click. */
function AskBeforeLeaving({ isChanged, onLeave }: AskBeforeLeavingProps): ReactElement | null {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title="Leave without saving?"
      action="Leave"
      isDanger
      onClose={reset}
      onConfirm={async () => {
        onLeave();
        proceed();
      }}
    >
      <p>Your changes to the configuration are not saved.</p>
    </ConfirmDialog>
  );
}

interface EditorProps {
  readonly agentId: string;
  readonly editor: ConfigEditor;
  readonly onReview: () => void;
}

function Editor({ agentId, editor, onReview }: EditorProps): ReactElement {
  const mayWrite = useMay('write');
  const unplaced = editor.problems.filter(({ path }) => editor.json !== undefined || !isPlaced(path));
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onReview();
      }}
      className="flex flex-col gap-4"
    >
      {unplaced.length > 0 && (
        <ul role="alert" className="flex flex-col gap-1 text-sm text-bad">
          {unplaced.map(({ path, message }) => (
            <li key={`${path}${message}`}>
              <code className="font-mono text-xs">{withVisibleControls(path)}</code> {withVisibleControls(message)}
            </li>
          ))}
        </ul>
      )}
      <fieldset disabled={!mayWrite} className="min-w-0">
        {editor.json === undefined ? (
          <ConfigFields draft={editor.draft} onChange={editor.setDraft} problems={editor.problems} />
        ) : (
          <TextArea
            label="Configuration as JSON"
            rows={20}
            spellCheck={false}
            className="font-mono text-xs"
            value={editor.json}
            onChange={({ target }) => editor.setJson(target.value)}
          />
        )}
      </fieldset>
      {editor.error !== undefined && editor.problems.length === 0 && (
        <ErrorNote error={editor.error} title="The change was not saved." />
      )}
      {mayWrite ? <SaveBar editor={editor} agentId={agentId} /> : <NeedsScope scope="write" to="change it" />}
    </form>
  );
}

function SaveBar({ editor, agentId }: { editor: ConfigEditor; agentId: string }): ReactElement {
  return (
    <div className="sticky -bottom-4 wide:-bottom-6 -mx-4 -mb-4 flex flex-wrap items-center gap-2 rounded-b-card border-t border-line bg-surface px-4 py-3">
      <Button kind="primary" type="submit" disabled={!editor.isChanged || editor.conflict !== undefined}>
        Review and save v{editor.base.version + 1}
      </Button>
      {editor.isChanged && editor.after !== undefined && <TryTasks agentId={agentId} draft={editor.after} />}
      {editor.isChanged && (
        <Button kind="ghost" onClick={editor.discard}>
          Discard changes
        </Button>
      )}
      <span role="status" className="text-xs text-quiet">
        {editor.isChanged ? 'Not saved yet. A change applies from the next run on.' : 'Nothing changed.'}
      </span>
    </div>
  );
}

function ModeSwitch({ editor }: { editor: ConfigEditor }): ReactElement {
  const Icon = editor.json === undefined ? Braces : ListTree;
  return (
    <Button kind="ghost" className="-mx-3" onClick={editor.switchMode}>
      <Icon size={16} aria-hidden /> {editor.json === undefined ? 'Edit as JSON' : 'Back to the fields'}
    </Button>
  );
}

/** Problems that are shown at a field need no list. */
function isPlaced(path: string): boolean {
  return /^(name|description|definition|instructions|model|limits\.\w+)$/.test(path) || path.startsWith('tools');
}
