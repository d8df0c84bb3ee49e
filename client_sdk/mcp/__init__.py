"""Tools for MCP clients (`arog mcp`): a graph is asked, and names are restored, on the asker's own machine."""
