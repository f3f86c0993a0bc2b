import type { ReactElement } from 'react';
import { JsonText } from '../../text/safe-text.tsx';
import type { CallRow } from './timeline.ts';

/** What the model asked for. If somebody approved something else: asked, approved, ran, beside each other. */
export function InputTab({ call }: { call: CallRow }): ReactElement {
  const { asked, answer, settlement, wait } = call;
  const askedInput = asked === undefined ? wait?.input : parsed(asked);
  const approved = answer !== undefined && 'approve' in answer ? answer.input : undefined;
  if (approved !== undefined)
    return (
      <div className="grid gap-3 wide:grid-cols-3">
        <Column title="Asked" value={askedInput ?? 'by an earlier run'} />
        <Column title="Approved" value={approved} />
        <Column title="Ran" value={settlement?.input ?? 'nothing yet'} />
      </div>
    );
  const ran = settlement?.input;
  const isRepaired = ran !== undefined && askedInput !== undefined && JSON.stringify(ran) !== JSON.stringify(askedInput);
  if (isRepaired && typeof ran === 'object')
    return (
      <div className="grid gap-3 wide:grid-cols-2">
        <Column title="As the model wrote it" value={askedInput} />
        <Column title="As it ran" value={ran} />
      </div>
    );
  return <JsonText value={askedInput ?? ran} label="Input" />;
}

function Column({ title, value }: { title: string; value: unknown }): ReactElement {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1">
      <h3 className="text-xs font-medium text-quiet">{title}</h3>
      <JsonText value={value} label={`${title}: input`} />
    </section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
