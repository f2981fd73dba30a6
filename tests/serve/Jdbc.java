import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** Asks and describes as tools on JDBC do; prints what it got. */
public class Jdbc {
    public static void main(String[] arguments) throws Exception {
        String table = arguments[1];
        Properties login = new Properties();
        login.put("user", "ann");
        login.put("password", "secret");
        try (Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + arguments[0] + "/sqlanon", login)) {
            DatabaseMetaData about = c.getMetaData();
            for (ResultSet r : new ResultSet[] {about.getSchemas(), about.getCatalogs(), about.getTypeInfo(),
                    about.getTableTypes(), about.getPrimaryKeys(null, null, table), about.getFunctions(null, null, "%"),
                    about.getImportedKeys(null, null, table), about.getIndexInfo(null, null, table, false, false)}) {
                while (r.next()) {
                    r.getObject(1);
                }
            }
            about.getSQLKeywords();
            try (ResultSet r = about.getTables(null, null, "%", new String[] {"TABLE"})) {
                while (r.next()) {
                    System.out.println("table " + r.getString("TABLE_NAME"));
                }
            }
            try (ResultSet r = about.getColumns(null, null, table, "%")) {
                while (r.next()) {
                    System.out.println("column " + r.getString("COLUMN_NAME") + " " + r.getString("TYPE_NAME"));
                }
            }
            String sql = "SELECT ill, count(*) AS n, n_low, n_high FROM " + table + " WHERE age < ? GROUP BY ill ORDER BY ill";
            try (PreparedStatement asked = c.prepareStatement(sql)) {
                for (int time = 0; time < 8; time++) { // from the fifth time on by a named statement, in binary form
                    asked.setInt(1, 33);
                    try (ResultSet r = asked.executeQuery()) {
                        while (r.next()) {
                            if (time == 7) {
                                System.out.println("row " + r.getString(1) + " " + r.getDouble(2) + " " + r.getDouble(3)
                                        + " " + r.getDouble(4));
                            }
                        }
                    }
                }
            }
            c.setAutoCommit(false);
            try (Statement s = c.createStatement()) {
                s.setFetchSize(1);
                try (ResultSet r = s.executeQuery("SELECT ill, count(*) FROM " + table + " GROUP BY ill")) {
                    while (r.next()) {
                        r.getDouble(2);
                    }
                }
            }
            try (Statement s = c.createStatement()) {
                s.executeQuery("SELECT * FROM " + table);
            } catch (SQLException error) {
                System.out.println("refused " + error.getSQLState());
            }
            c.rollback();
        }
    }
}
