import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
import { useMay, useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';

/** Makes a space with the signed-in user in it. Others are added on its page. */
export function NewSpace(): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  if (!useMay('write')) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        <Plus size={16} aria-hidden /> New space
      </Button>
      {isOpen && <NewSpaceDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function NewSpaceDialog({ onClose }: { onClose: () => void }): ReactElement {
  const { entity } = useSession().session;
  const [typed, keep] = useKept(DRAFT, () => ({ name: '', description: '' }));
  const { name, description } = typed;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const made = useMutation({
    mutationFn: () => {
      const members = entity === undefined ? {} : { members: [{ entityId: entity.id }] };
      return client.spaces.create({ name: name.trim(), description: description.trim(), ...members });
    },
    onSuccess: async ({ id }) => {
      forgetKept(DRAFT);
      await queries.invalidateQueries({ queryKey: ['spaces'] });
      await navigate({ to: '/spaces/$id', params: { id } });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '' && !made.isPending) made.mutate();
  };
  return (
    <Dialog title="New space" onClose={onClose}>
      <form noValidate onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          maxLength={200}
          value={name}
          onChange={({ target }) => keep({ ...typed, name: target.value })}
        />
        <TextField
          label="Description"
          isOptional
          value={description}
          onChange={({ target }) => keep({ ...typed, description: target.value })}
        />
        {made.error !== null && <ErrorNote error={made.error} title="The space was not made." />}
        <Button type="submit" kind="primary" disabled={name.trim() === '' || made.isPending}>
          Make the space
        </Button>
      </form>
    </Dialog>
  );
}

const DRAFT = 'space.new';
