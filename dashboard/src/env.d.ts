declare module "*.module.css" {
  const classes: Readonly<Record<string, string>>;
  // oxlint-disable-next-line import/no-default-export: the form that Vite gives it.
  export default classes;
}
