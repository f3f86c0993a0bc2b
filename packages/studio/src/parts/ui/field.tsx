import { type ComponentProps, type ReactElement, type ReactNode, useId } from 'react';

interface Labelled {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Says beside the label that it may stay empty. */
  readonly isOptional?: boolean | undefined;
  /** The problem with its value. It is read out, and the field is marked. */
  readonly problem?: string | undefined;
}

export function TextField({
  label,
  hint,
  isOptional,
  problem,
  className = '',
  ...rest
}: Labelled & ComponentProps<'input'>): ReactElement {
  return (
    <Described label={label} hint={hint} isOptional={isOptional} problem={problem}>
      {(field) => <input {...field} className={`${fieldClass} min-h-8 ${className}`} {...rest} />}
    </Described>
  );
}

export function TextArea({
  label,
  hint,
  isOptional,
  problem,
  className = '',
  ...rest
}: Labelled & ComponentProps<'textarea'>): ReactElement {
  return (
    <Described label={label} hint={hint} isOptional={isOptional} problem={problem}>
      {(field) => <textarea {...field} className={`${fieldClass} ${className}`} {...rest} />}
    </Described>
  );
}

export function SelectField({
  label,
  hint,
  isOptional,
  problem,
  className = '',
  ...rest
}: Labelled & ComponentProps<'select'>): ReactElement {
  return (
    <Described label={label} hint={hint} isOptional={isOptional} problem={problem}>
      {(field) => <select {...field} className={`${fieldClass} min-h-8 ${className}`} {...rest} />}
    </Described>
  );
}

/** The attributes that connect a field with its label and its note. */
interface FieldProps {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

/** A label above, a hint or the problem below. */
function Described({
  label,
  hint,
  isOptional = false,
  problem,
  children,
}: Labelled & { children: (field: FieldProps) => ReactNode }): ReactElement {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {isOptional && <span className="font-normal text-quiet"> (optional)</span>}
      </label>
      {children({ id, 'aria-invalid': problem !== undefined, 'aria-describedby': note })}
      <p id={note} className={`text-xs empty:hidden ${problem === undefined ? 'text-quiet' : 'text-bad'}`}>
        {problem ?? hint}
      </p>
    </div>
  );
}

export const fieldClass =
  'w-full rounded border border-quiet bg-surface px-2 py-1 text-base text-text placeholder:text-quiet pointer-coarse:min-h-11 aria-invalid:border-bad';
