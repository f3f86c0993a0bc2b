import type { Policy, Prompt } from '@lastcall/core';
import type { Plugin } from '@lastcall/core/prompt';
import type { Charter } from '@lastcall/machines';
import type { AgentDefinition, ModeContext } from './agent-definition.ts';

/*
 * Types that make a wrong definition a compile error. The runtime checks of definitions.ts say more, and find more: these types know a
 * name only if it is a literal, and cannot see what sections, plugins and nodes bring.
 *
 * The argument of defineAgent() is `D & TypedModes<Mode, Context> & Mistakes<D>`. `Mistakes<D>` is `unknown`, which demands nothing, for a
 * right definition. For a wrong one it demands a field that `D` does not have, or a text where `D` has a value: the compiler shows the text.
 */

/** The fields for modes. `Mode` is inferred from `modes` alone, and `Context` from `ctx` alone. */
export interface TypedModes<Mode extends string, Context> {
  readonly modes?: readonly Mode[] | undefined;
  readonly mode?: ((ctx: ModeContext) => NoInfer<Mode>) | undefined;
  readonly ctx?: Context | undefined;
  readonly plugins?: readonly Plugin<NoInfer<Context>, NoInfer<Mode>>[] | undefined;
}

export type Mistakes<D> = UnknownFields<D> & UnknownTools<D> & RepeatedSlices<D> & MissingMode<D>;

type UnknownFields<D> = {
  readonly [Field in Exclude<keyof D, keyof AgentDefinition>]: `A definition has no field "${Field & string}".`;
};

type MissingMode<D> = D extends { readonly plugins: readonly unknown[] } ? { readonly mode: unknown } : unknown;

/** Sections, plugins and nodes bring tools whose names are not in their types, so a definition with one of them is not checked. */
type UnknownTools<D> = D extends
  | { readonly instructions: Prompt }
  | { readonly plugins: readonly unknown[] }
  | { readonly machine: Charter }
  ? unknown
  : Complaint<
      'policies',
      'A policy names a tool that this definition does not have',
      Exclude<NamesInPolicies<D>, ToolNames<D>>
    >;

type ToolNames<D> = 'rewind' | (D extends { readonly tools: infer Tools } ? keyof Tools : never);
type NamesInPolicies<D> = D extends { readonly policies: readonly (infer One)[] } ? NamesInPolicy<One> : never;
type NamesInPolicy<One> = One extends Policy<infer Name> ? Literal<Name> : never;

type RepeatedSlices<D> = D extends { readonly slices: infer All }
  ? Complaint<'slices', 'A slice is listed twice', RepeatedNames<All>>
  : unknown;

/** The names that a list has twice: of each item, the name if a later item has it too. */
type RepeatedNames<All, Found = never> = All extends readonly [infer First, ...infer Rest]
  ? RepeatedNames<Rest, Found | (NameOf<First> & NameOf<Rest[number]>)>
  : Found;
type NameOf<One> = One extends { readonly name: infer Name } ? Literal<Name> : never;

/** `string` says nothing about the name, as in `Slice<Cart>` and in `Policy`. */
type Literal<Name> = string extends Name ? never : Name;

/** Demands `{ field: 'text: name' }` if there is a name, which no list fulfils. */
type Complaint<Field extends string, Text extends string, Name> = [Name] extends [never]
  ? unknown
  : { readonly [F in Field]: `${Text}: "${Name & string}"` };
