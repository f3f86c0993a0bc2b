import { createElement as h, type ReactElement, useState } from 'react';
import { button, type FieldsProps, send } from './card-button.ts';
import { EditFields } from './card-edit.ts';
import { GrantFields } from './card-grant.ts';

/** Approve, edit before approving, approve and allow later calls, or deny. A denial needs a reason: without one, models ask again. */
export function Approval(props: FieldsProps): ReactElement {
  const { call, answer, isOff, shown } = props;
  const [step, setStep] = useState<'edit' | 'grant'>();
  const [reason, setReason] = useState('');
  // Another input that came since has to be read first.
  if (step !== undefined && !isOff)
    return h(step === 'edit' ? EditFields : GrantFields, { ...props, onBack: () => setStep(undefined) });
  return h(
    'p',
    null,
    button('Approve', { isOff, shown, onClick: () => send(answer({ approve: true })) }),
    button('Edit …', { isOff, shown, onClick: () => setStep('edit') }),
    call.mayGrant === false ? null : button('Allow more …', { isOff, shown, onClick: () => setStep('grant') }),
    h('input', {
      'aria-label': 'Why not',
      placeholder: 'Why not',
      value: reason,
      onChange: ({ target }: { target: { value: string } }) => setReason(target.value),
    }),
    button('Deny', { isOff: reason.trim() === '', onClick: () => send(answer({ deny: reason })) }),
  );
}
