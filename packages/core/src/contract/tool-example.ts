export interface ToolExample<W, O> {
  description: string;
  input: W;
  output?: O;
}
