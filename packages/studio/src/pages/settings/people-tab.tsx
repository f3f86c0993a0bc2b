import type { Entity } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { personList } from '../../data/settings.ts';
import { EraseButton } from '../../parts/erasure/erase-button.tsx';
import { NeedsScope, Requires } from '../../parts/session/requires.tsx';
import { useMay, useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { CopyText } from '../../parts/ui/copy-text.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { SCOPES, type Scope } from './scopes.ts';

export function PeopleTab(): ReactElement {
  const mayWrite = useMay('write');
  return (
    <Requires scope="read" to="see who is here">
      <People />
      {mayWrite ? <NewPerson /> : <NeedsScope scope="write" to="add a person or create a link" />}
    </Requires>
  );
}

function People(): ReactElement {
  const { data: people = [], error, refetch } = useQuery(personList);
  const { session } = useSession();
  const mayWrite = useMay('write');
  const [invited, setInvited] = useState<Entity | undefined>();
  return (
    <Section title="People">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      {people.length === 0 && <p className="text-quiet">No people yet. Add a person to let them write in spaces.</p>}
      <ul aria-label="People" className="flex flex-col">
        {people.map((person) => (
          <li
            key={person.id}
            className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1 last:border-b-0"
          >
            <bdi className="min-w-0 font-medium wrap-anywhere">{withVisibleControls(person.displayName)}</bdi>
            {person.id === session.entity?.id && <span className="text-xs text-quiet">you</span>}
            <span className="min-w-24 flex-1 truncate font-mono text-xs text-quiet">
              {withVisibleControls(person.externalId ?? person.id)}
            </span>
            {mayWrite && (
              <Button onClick={() => setInvited(person)}>
                <Link2 size={16} aria-hidden /> Sign-in link<span className="sr-only"> for {person.displayName}</span>
              </Button>
            )}
            <ErasePerson person={person} />
          </li>
        ))}
      </ul>
      {invited !== undefined && <SignInLink person={invited} onClose={() => setInvited(undefined)} />}
    </Section>
  );
}

function ErasePerson({ person }: { person: Entity }): ReactElement {
  return (
    <EraseButton
      name={person.displayName}
      word="Erase"
      stale={[personList.queryKey]}
      onErase={() => client.entities.delete(person.id)}
    >
      <p>
        Everything that this person wrote is erased, with all copies that agents made of it. They leave their spaces and
        are signed out. This cannot be undone.
      </p>
    </EraseButton>
  );
}

/** A link signs in the first person who opens it, so its rights are chosen before it exists. */
function SignInLink({ person, onClose }: { person: Entity; onClose: () => void }): ReactElement {
  const [scope, setScope] = useState<Scope | undefined>();
  const create = useMutation({
    mutationFn: () => client.links.create({ entityId: person.id, scopes: scope === undefined ? [] : [scope] }),
  });
  return (
    <Dialog title={`Sign-in link for ${person.displayName}`} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <fieldset disabled={create.data !== undefined}>
          <legend className="text-sm font-medium">What they may do</legend>
          <ScopeChoice
            word="the usual rights"
            means="read and write in their spaces, answer what waits for them"
            isOn={scope === undefined}
            onChoose={() => setScope(undefined)}
          />
          <OwnScopes scope={scope} onChoose={setScope} />
        </fieldset>
        {create.error !== null && <ErrorNote error={create.error} title="The link was not created." />}
        {create.data === undefined ? (
          <div className="flex justify-end">
            <Button kind="primary" disabled={create.isPending} onClick={() => create.mutate()}>
              Create the link
            </Button>
          </div>
        ) : (
          <div className="appear flex flex-col gap-2 rounded border border-line bg-wait-soft p-3">
            <p>
              It signs in the first person who opens it, once, until{' '}
              {new Date(create.data.expiresAt).toLocaleTimeString()}. It is shown only once.
            </p>
            <CopyText label="The sign-in link" text={create.data.url} />
          </div>
        )}
      </div>
    </Dialog>
  );
}

/** Users cannot give more rights than they have. */
function OwnScopes({ scope, onChoose }: { scope: Scope | undefined; onChoose: (scope: Scope) => void }): ReactElement {
  const may = { admin: useMay('admin'), write: useMay('write'), read: useMay('read') };
  return (
    <>
      {SCOPES.filter((one) => may[one.scope]).map((one) => (
        <ScopeChoice
          key={one.scope}
          word={one.scope}
          means={one.means}
          isOn={scope === one.scope}
          onChoose={() => onChoose(one.scope)}
        />
      ))}
    </>
  );
}

interface ScopeChoiceProps {
  readonly word: string;
  readonly means: string;
  readonly isOn: boolean;
  readonly onChoose: () => void;
}

function ScopeChoice({ word, means, isOn, onChoose }: ScopeChoiceProps): ReactElement {
  return (
    <label className="flex min-h-8 items-center gap-2">
      <input type="radio" name="link-scope" checked={isOn} onChange={onChoose} />
      <span>
        {word} <span className="text-xs text-quiet">{means}</span>
      </span>
    </label>
  );
}

function NewPerson(): ReactElement {
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => client.entities.create({ kind: 'human', displayName: name.trim() }),
    onSuccess: async () => {
      setName('');
      await queries.invalidateQueries({ queryKey: personList.queryKey });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Section title="Add a person">
      <form noValidate onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <div className="min-w-0 flex-1 basis-48">
          <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
        </div>
        <Button type="submit" disabled={create.isPending || name.trim() === ''}>
          Add
        </Button>
      </form>
      {create.error !== null && <ErrorNote error={create.error} title="The person was not added." />}
    </Section>
  );
}
