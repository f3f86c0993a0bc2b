import type { Key } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { keyList } from '../../data/settings.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { CopyText } from '../../parts/ui/copy-text.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { SCOPES, type Scope } from './scopes.ts';

export function KeysTab(): ReactElement {
  return (
    <Requires scope="admin" to="see or create keys">
      <KeyList />
      <NewKey />
    </Requires>
  );
}

function KeyList(): ReactElement {
  const { data: keys = [], error, refetch } = useQuery(keyList);
  const [revoked, setRevoked] = useState<Key | undefined>();
  return (
    <Section title="Keys">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      <ul aria-label="Keys" className="flex flex-col">
        {keys.map((key) => (
          <KeyRow key={key.id} shown={key} onRevoke={() => setRevoked(key)} />
        ))}
      </ul>
      {revoked !== undefined && <RevokeKey revoked={revoked} onClose={() => setRevoked(undefined)} />}
    </Section>
  );
}

function KeyRow({ shown, onRevoke }: { shown: Key; onRevoke: () => void }): ReactElement {
  const isRevoked = shown.revokedAt !== undefined;
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1 last:border-b-0">
      {shown.prefix !== '' && (
        <code className={`font-mono text-xs ${isRevoked ? 'text-quiet line-through' : ''}`}>{shown.prefix}…</code>
      )}
      <span className="text-sm">{shown.scopes.join(', ')}</span>
      <span className="min-w-0 flex-1 basis-40">“{withVisibleControls(shown.name)}”</span>
      <Time at={shown.createdAt} />
      {isRevoked ? (
        <span className="text-xs text-quiet">revoked</span>
      ) : (
        <Button kind="danger" onClick={onRevoke}>
          Revoke<span className="sr-only"> {shown.name}</span>
        </Button>
      )}
    </li>
  );
}

function RevokeKey({ revoked, onClose }: { revoked: Key; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  const { session } = useSession();
  return (
    <ConfirmDialog
      title={`Revoke “${revoked.name}”?`}
      action="Revoke"
      isDanger
      onClose={onClose}
      onConfirm={async () => {
        await client.keys.revoke(revoked.id);
        await queries.invalidateQueries({ queryKey: keyList.queryKey });
      }}
    >
      <p>
        It stops working at once: programs that use it are refused, and browsers that signed in with it are signed out.
        This cannot be undone, but you can create a new key.
      </p>
      {session.keyId === revoked.id && (
        <p className="text-bad">You are signed in with this key: this browser is signed out too.</p>
      )}
    </ConfirmDialog>
  );
}

function NewKey(): ReactElement {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('write');
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => client.keys.create({ name: name.trim(), scopes: [scope] }),
    onSuccess: async () => {
      setName('');
      await queries.invalidateQueries({ queryKey: keyList.queryKey });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Section title="New key">
      <form noValidate onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          hint="What it is for. You will need this when you revoke it."
          className="max-w-96"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <fieldset>
          <legend className="text-sm font-medium">What it may do</legend>
          {SCOPES.map(({ scope: one, means }) => (
            <label key={one} className="flex min-h-8 items-center gap-2">
              <input type="radio" name="scope" checked={scope === one} onChange={() => setScope(one)} />
              <span>
                {one} <span className="text-xs text-quiet">{means}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {create.error !== null && <ErrorNote error={create.error} title="The key was not created." />}
        <div>
          <Button kind="primary" type="submit" disabled={create.isPending || name.trim() === ''}>
            Create key
          </Button>
        </div>
      </form>
      {create.data !== undefined && (
        <div className="appear flex flex-col gap-2 rounded border border-line bg-wait-soft p-3">
          <p className="font-medium">This is the key. It is shown only once: copy it now.</p>
          <CopyText label="The new key" text={create.data.key} />
        </div>
      )}
    </Section>
  );
}
