import "./styles.ts";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client.ts";
import { backToPlace } from "./shell/provider.ts";
import { router } from "./router.tsx";
import { theme } from "./theme.ts";

/** Seconds that a page waits for a busy API before it says so. */
const WAIT_MAX_S = 5;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // Without a network the server may be on this machine or in this house.
      networkMode: "always",
      refetchOnReconnect: "always",
      retry: (failures, error) => failures < 1 && !(error instanceof ApiError && !(error.isPassing && error.waitSeconds <= WAIT_MAX_S)),
      retryDelay: (_, error) => (error instanceof ApiError && error.waitSeconds > 0 ? error.waitSeconds * 1000 : 1000),
    },
  },
});

const app = (
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false} withStaticClasses={false}>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>
);

backToPlace();
// The router shows nothing until the code of the first page has been loaded; the document has a sign of loading until then.
void router.load().finally(() => createRoot(document.querySelector("#root")!).render(app));
