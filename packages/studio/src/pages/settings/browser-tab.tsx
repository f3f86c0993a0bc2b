import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { personList } from '../../data/settings.ts';
import { areSingleKeysOn, setSingleKeys } from '../../parts/keyboard/single-keys.ts';
import { useMay, useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { SelectField } from '../../parts/ui/field.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { readTheme, setTheme, type Theme } from '../../parts/ui/theme.ts';
import { scopesInWords } from './scopes.ts';

/** Who is signed in, and how this browser shows the studio. */
export function BrowserTab(): ReactElement {
  return (
    <>
      <Me />
      <Section title="Look and keys">
        <ThemeChoice />
        <SingleKeys />
      </Section>
    </>
  );
}

function Me(): ReactElement {
  const { session, setSession } = useSession();
  const mayAct = useMay('write');
  const out = useMutation({
    mutationFn: () => client.session.signOut(),
    onSuccess: () => setSession(undefined),
  });
  return (
    <Section
      title="Signed in"
      aside={
        <Button onClick={() => out.mutate()} disabled={out.isPending}>
          <LogOut size={16} aria-hidden /> Sign out
        </Button>
      }
    >
      {out.error !== null && <ErrorNote error={out.error} title="You are still signed in." />}
      <Facts>
        <Fact name="You are">
          <bdi>{withVisibleControls(session.entity?.displayName ?? 'an operator without a person')}</bdi>
        </Fact>
        <Fact name="You may">{scopesInWords(session.scopes)}</Fact>
        <Fact name="Until">{new Date(session.expiresAt).toLocaleString()}</Fact>
      </Facts>
      {mayAct && <ActAs />}
    </Section>
  );
}

/** Messages and answers carry the name of the person that an operator acts for. */
function ActAs(): ReactElement {
  const { session, setSession } = useSession();
  const { data: people = [] } = useQuery(personList);
  const act = useMutation({
    mutationFn: (id: string) => client.session.actFor(id === '' ? null : id),
    onSuccess: (changed) => setSession(changed),
  });
  return (
    <>
      <SelectField
        label="Act as"
        hint="Your messages and answers carry this name, and everyone can see it."
        className="max-w-80"
        value={session.entity?.id ?? ''}
        disabled={act.isPending}
        onChange={({ target }) => act.mutate(target.value)}
      >
        <option value="">No person</option>
        {people.map(({ id, displayName }) => (
          <option key={id} value={id}>
            {withVisibleControls(displayName)}
          </option>
        ))}
      </SelectField>
      {act.error !== null && <ErrorNote error={act.error} title="The person was not changed." />}
    </>
  );
}

function ThemeChoice(): ReactElement {
  const [theme, choose] = useState(readTheme);
  const change = (next: Theme): void => {
    setTheme(next);
    choose(next);
  };
  return (
    <fieldset>
      <legend className="text-sm font-medium">Theme</legend>
      <div className="flex flex-wrap gap-x-4">
        {(['system', 'light', 'dark'] as const).map((one) => (
          <label key={one} className="flex min-h-8 items-center gap-2">
            <input type="radio" name="theme" checked={theme === one} onChange={() => change(one)} />
            {one === 'system' ? 'as the system' : one}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function SingleKeys(): ReactElement {
  const [isOn, setOn] = useState(areSingleKeysOn);
  return (
    <label className="flex min-h-8 items-start gap-2">
      <input
        type="checkbox"
        className="mt-1"
        checked={isOn}
        onChange={({ target }) => {
          setSingleKeys(target.checked);
          setOn(target.checked);
        }}
      />
      <span>
        Single keys do something, e.g. <kbd className="font-mono text-xs">g i</kbd> for the inbox
        <span className="block text-xs text-quiet">
          Turn them off if you dictate: speech input types letters. <kbd className="font-mono">?</kbd> lists them.
        </span>
      </span>
    </label>
  );
}
