import { createTheme, Input } from "@mantine/core";

/** Overlays inject no style element to stop the page from scrolling: shell.module.css does it by :has(). */
export const theme = createTheme({
  primaryShade: 6,
  defaultRadius: "md",
  components: {
    DrawerRoot: { defaultProps: { lockScroll: false } },
    ModalRoot: { defaultProps: { lockScroll: false } },
    InputWrapper: Input.Wrapper.extend({
      // The kit's own class names differ between its releases and are not in the page.
      classNames: { label: "field-label" },
      vars: () => ({
        label: { "--input-label-size": "13px" },
        description: { "--input-description-size": "12px" },
        error: { "--input-error-size": "12px" },
        success: {},
      }),
    }),
    Button: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "sm" } },
  },
});
