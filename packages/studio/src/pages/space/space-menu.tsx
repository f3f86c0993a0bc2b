import type { Space } from '@lastcall/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Archive, ArchiveRestore, Pencil } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';
import { Menu } from '../../parts/ui/menu.tsx';

/** Renames the space, archives it, and opens it again. */
export function SpaceMenu({ space }: { space: Space }): ReactElement | null {
  const [asked, setAsked] = useState<'rename' | 'archive' | 'unarchive'>();
  const change = useChangeSpace(space.id);
  if (!useMay('write')) return null;
  const close = (): void => setAsked(undefined);
  const archiving =
    space.archivedAt === undefined
      ? { word: 'Archive', icon: Archive, run: () => setAsked('archive') }
      : { word: 'Unarchive', icon: ArchiveRestore, run: () => setAsked('unarchive') };
  return (
    <>
      <Menu
        label="Menu of the space"
        items={[{ word: 'Rename', icon: Pencil, run: () => setAsked('rename') }, archiving]}
      />
      {asked === 'rename' && <RenameDialog space={space} onClose={close} />}
      {asked === 'archive' && (
        <ConfirmDialog
          title={`Archive ${space.name}?`}
          action="Archive"
          onClose={close}
          onConfirm={() => change({ archived: true })}
        >
          <p>
            It leaves the list of spaces and takes no new messages, so its agents are not woken here. Its messages stay,
            and calls that wait can still be answered in the inbox. You can unarchive it at any time.
          </p>
        </ConfirmDialog>
      )}
      {asked === 'unarchive' && (
        <ConfirmDialog
          title={`Unarchive ${space.name}?`}
          action="Unarchive"
          onClose={close}
          onConfirm={() => change({ archived: false })}
        >
          <p>It returns to the list of spaces, and takes messages again.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

type Changes = Parameters<typeof client.spaces.update>[1];

/** The page itself learns of the change by its stream. */
function useChangeSpace(id: string): (changes: Changes) => Promise<void> {
  const queries = useQueryClient();
  return async (changes) => {
    await client.spaces.update(id, changes);
    await queries.invalidateQueries({ queryKey: ['spaces'] });
  };
}

function RenameDialog({ space, onClose }: { space: Space; onClose: () => void }): ReactElement {
  const [name, setName] = useState(space.name);
  const [description, setDescription] = useState(space.description);
  const change = useChangeSpace(space.id);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => change({ name: name.trim(), description: description.trim() }),
    onSuccess: onClose,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '' && !isPending) mutate();
  };
  return (
    <Dialog title="Rename the space" onClose={onClose}>
      <form noValidate onSubmit={submit} className="flex flex-col gap-3">
        <TextField label="Name" maxLength={200} value={name} onChange={({ target }) => setName(target.value)} />
        <TextField
          label="Description"
          isOptional
          maxLength={2_000}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
        {error !== null && <ErrorNote error={error} title="The space was not renamed." />}
        <Button type="submit" kind="primary" disabled={name.trim() === '' || isPending}>
          Save
        </Button>
      </form>
    </Dialog>
  );
}

/** In place of the field of an archived space. */
export function ArchivedNote({ space }: { space: Space }): ReactElement {
  const change = useChangeSpace(space.id);
  const mayChange = useMay('write');
  const { mutate, isPending, error } = useMutation({ mutationFn: () => change({ archived: false }) });
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm text-quiet">
          This space is archived. It can be read, and its waiting calls can be answered, but nothing new is posted here.{' '}
          {mayChange ? '' : 'A person with the right to write can unarchive it.'}
        </p>
        {mayChange && (
          <Button disabled={isPending} onClick={() => mutate()}>
            <ArchiveRestore size={16} aria-hidden /> Unarchive
          </Button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} title="The space is still archived." />}
    </>
  );
}
