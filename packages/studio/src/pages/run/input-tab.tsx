import type { CallRow } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { callDetails } from '../../data/calls.ts';
import { JsonText } from '../../parts/text/safe-text.tsx';

/** The input as the model asked for it. If another input was approved, it shows asked, approved and ran in columns. */
export function InputTab({ call }: { call: CallRow }): ReactElement {
  const { asked, answer, settlement, wait, callId, step } = call;
  const hasWaited = wait !== undefined || answer !== undefined || step === undefined;
  const { data: details } = useQuery({ ...callDetails(callId), enabled: hasWaited });
  const askedInput = asked === undefined ? (details?.card?.call?.askedInput ?? details?.pending?.input) : parsed(asked);
  const given = answer ?? details?.pending?.answer;
  const approved = given !== undefined && 'approve' in given ? given.input : undefined;
  if (approved !== undefined)
    return (
      <div className="grid gap-3 wide:grid-cols-3">
        <Column title="Asked" value={askedInput ?? 'Loading the request of an earlier run …'} />
        <Column title="Approved" value={approved} />
        <Column title="Ran" value={answer === undefined ? 'in the run that the approval started' : settlement?.input} />
      </div>
    );
  const ran = settlement?.input;
  const isOther = ran !== undefined && askedInput !== undefined && JSON.stringify(ran) !== JSON.stringify(askedInput);
  if (isOther && typeof ran === 'object')
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
